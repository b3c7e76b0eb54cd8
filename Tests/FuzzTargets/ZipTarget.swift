import Foundation
import HealthModel

@testable import HealthFormats

extension FuzzTarget {
  /// Fuzzes the reading of an export in a zip file, which is stored in memory if possible.
  @Sendable static func zipFile(_ input: [UInt8]) {
    do { try Data(input).write(to: URL(fileURLWithPath: zipPath)) } catch { fatalError("no \(zipPath): \(error)") }
    do {
      let export = try AppleHealthExport(path: zipPath)
      require(export.totalBytes >= 0, "a size")
      // What declares to be beyond any sense would only take time.
      guard export.totalBytes < 16 << 20 else { return }
      _ = try export.read(try export.survey()) { _ in }
    } catch {
      require(error is ImportError, "a documented error: \(error)")
      require(!"\(error)".isEmpty, "a sentence for every error")
    }
  }

  private static let zipPath: String = {
    let folder = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    atexit { unlink(FuzzTarget.zipPath) }
    return "\(folder)/hpeer-fuzz-\(getpid()).zip"
  }()
}
