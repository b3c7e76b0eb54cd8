/// What an export is written to.
public protocol ExportSink: Sendable {
  /// Takes the next bytes. May block, and is called from a thread of its own.
  func write(_ bytes: [UInt8]) throws
  /// All has been written. May block.
  func finish() throws
  /// The export has failed; may be called after ``finish()``, and more than once.
  func discard()
}

/// Why a file cannot be written.
public enum ExportError: Error, Hashable, Sendable {
  case isFolder(path: String)
  case alreadyThere(path: String)
  case diskFull(path: String)
  /// - Parameter reason: the system's words.
  case unwritable(path: String, reason: String)
}
