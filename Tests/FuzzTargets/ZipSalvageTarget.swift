import Foundation

@testable import HealthFormats

extension FuzzTarget {
  /// Fuzzes the recovery of truncated zip files: each entry found can be read, has the stated size, and is found
  /// again.
  @Sendable static func zipSalvage(_ input: [UInt8]) {
    do { try Data(input).write(to: URL(fileURLWithPath: salvagePath)) } catch {
      fatalError("no \(salvagePath): \(error)")
    }
    do {
      let contents = try ZipSalvage.contents(of: salvagePath)
      for (index, entry) in contents.entries.enumerated() {
        require(entry.start + entry.storedSize <= Int64(input.count), "content lies in the file")
        require(entry.state != .cutOff || index == contents.entries.count - 1, "only the last is cut off")
        let source = try ZipSalvage.source(of: entry, path: salvagePath)
        var size: Int64 = 0
        while true {
          let piece = try source.prefix(1 << 16)
          if piece.isEmpty { break }
          size += Int64(piece.count)
        }
        require(size == entry.size, "\(size) bytes, not \(entry.size)")
      }
      require(try ZipSalvage.contents(of: salvagePath).entries == contents.entries, "the same again")
    } catch {
      require(!"\(error)".isEmpty, "a sentence for every error")
    }
  }

  private static let salvagePath: String = {
    let folder = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    atexit { unlink(FuzzTarget.salvagePath) }
    return "\(folder)/hpeer-fuzz-\(getpid())-cut.zip"
  }()
}
