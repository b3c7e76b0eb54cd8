import HealthModel

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
  /// The path names a folder; a file in it must be named.
  case isFolder(path: String)
  /// The path names something that is no folder, and files were to be made in it.
  case isNoFolder(path: String)
  /// Something has this name and may not be replaced: found before anything was written, or come there since, and then
  /// nothing of the export is left. Another name helps, or to allow that it is replaced.
  case alreadyThere(path: String)
  /// The format is a file that is not written from its beginning to its end, and cannot be a stream, compressed or divided.
  case needsFile(ExportFormat)
  /// The disk has no room, or the user's quota has none. Nothing of the export is left: make room, and export again.
  case diskFull(path: String)
  /// The store holds another number of samples of a type than were found in it one after the other. Nothing of the export is
  /// left: it would not be whole.
  case incomplete(SampleType, read: Int, held: Int)
  /// - Parameter reason: the system's words.
  case unwritable(path: String, reason: String)
}
