import CZip
import Foundation

/// A writer of a zip file whose members are generated while the file is written (deflate, level 6; zip64 if needed).
final class ZipWriter {
  private let path: String
  private var archive: OpaquePointer?
  /// The fixed modification date 2024-12-31 11:00, so that the same members give the same file.
  private static let date: (time: UInt16, day: UInt16) = (11 << 11, (2024 - 1980) << 9 | 12 << 5 | 31)

  init(path: String) throws {
    self.path = path
    var code: Int32 = 0
    guard let archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code) else {
      throw MadeExportError(path: path, reason: "libzip's error \(code)")
    }
    self.archive = archive
  }

  deinit { if let archive { zip_discard(archive) } }

  /// - Parameter next: A closure, called by ``close()``, that returns the next piece of the member, which is empty at
  /// the end.
  func add(_ name: String, _ next: @escaping () -> [UInt8]) throws {
    let content = Unmanaged.passRetained(Content(next))
    guard let source = zip_source_function(archive, Content.answer, content.toOpaque()) else {
      content.release()
      throw failure
    }
    let index = zip_file_add(archive, name, source, UInt32(ZIP_FL_ENC_UTF_8))
    guard index >= 0 else {
      zip_source_free(source)
      throw failure
    }
    guard zip_set_file_compression(archive, UInt64(index), ZIP_CM_DEFLATE, 6) == 0,
      zip_file_set_dostime(archive, UInt64(index), Self.date.time, Self.date.day, 0) == 0
    else { throw failure }
  }

  /// Generates all members and writes the file.
  func close() throws {
    guard zip_close(archive) == 0 else { throw failure }
    archive = nil
  }

  private var failure: MadeExportError {
    MadeExportError(path: path, reason: archive.map { String(cString: zip_strerror($0)) } ?? "closed")
  }
}

/// A member's content, read by libzip's callback (`zip_source_function(3)`).
private final class Content {
  private let next: () -> [UInt8]
  private var piece: [UInt8] = []
  private var read = 0

  init(_ next: @escaping () -> [UInt8]) { self.next = next }

  private func copy(to data: UnsafeMutableRawPointer, count: Int) -> Int64 {
    if read == piece.count { (piece, read) = (next(), 0) }
    let copied = min(count, piece.count - read)
    piece.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { data.copyMemory(from: base + read, byteCount: copied) }
    }
    read += copied
    return Int64(copied)
  }

  static let answer:
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UInt64, zip_source_cmd) -> Int64 = {
      user, data, count, command in
      guard let user else { return -1 }
      let content = Unmanaged<Content>.fromOpaque(user)
      switch command {
      case ZIP_SOURCE_OPEN, ZIP_SOURCE_CLOSE: return 0
      case ZIP_SOURCE_READ:
        return data.map { content.takeUnretainedValue().copy(to: $0, count: Int(count)) } ?? -1
      case ZIP_SOURCE_STAT:
        guard let status = data?.assumingMemoryBound(to: zip_stat_t.self) else { return -1 }
        zip_stat_init(status)
        return Int64(MemoryLayout<zip_stat_t>.size)
      case ZIP_SOURCE_ERROR:
        data?.initializeMemory(as: Int32.self, repeating: 0, count: 2)
        return Int64(2 * MemoryLayout<Int32>.size)
      case ZIP_SOURCE_FREE:
        content.release()
        return 0
      case ZIP_SOURCE_SUPPORTS:
        return [
          ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
          ZIP_SOURCE_SUPPORTS,
        ].reduce(0) { $0 | 1 << Int64($1.rawValue) }
      default: return -1
      }
    }
}
