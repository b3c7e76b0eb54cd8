import Synchronization

/// The file that a batch ended with, as it was written: the next batch often goes on with it, and to read its records again
/// takes longer than to add to them.
final class WrittenFile: Sendable {
  /// In bytes. A larger one is not held.
  private static let largest = 4 << 20

  private struct Content {
    var name: String
    var bytes: [UInt8]
    var file: DayFile
  }

  private let content = Mutex<Content?>(nil)

  /// The records of a file; `nil` unless it is this one and still has the bytes that were written.
  func file(_ name: String, _ bytes: [UInt8]) -> DayFile? {
    content.withLock { content in
      guard let content, content.name == name, content.bytes == bytes else { return nil }
      return content.file
    }
  }

  func note(_ file: DayFile, _ name: String, _ bytes: [UInt8]) {
    content.withLock { $0 = bytes.count > Self.largest ? nil : Content(name: name, bytes: bytes, file: file) }
  }
}
