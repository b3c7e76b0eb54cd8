import HealthFormats
import HealthModel
import OperatingSystem
import Synchronization

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

/// Compresses what goes to another sink.
final class CompressedSink: ExportSink {
  private let sink: any ExportSink
  private let compressor: Mutex<any ByteCompressor>

  init(_ sink: any ExportSink, _ compression: FileCompression) {
    self.sink = sink
    compressor = Mutex(compression.compressor())
  }

  func write(_ bytes: [UInt8]) throws {
    let compressed = compressor.withLock { $0.compress(bytes) }
    if !compressed.isEmpty { try sink.write(compressed) }
  }

  func finish() throws {
    try sink.write(compressor.withLock { $0.finish() })
    try sink.finish()
  }

  func discard() { sink.discard() }
}

/// Writes to a sink on a thread of its own, one piece behind, so that what comes next is read and put into words while the
/// disk, or a compressor, is at work. Used by one task.
actor OutputQueue {
  private let sink: any ExportSink
  /// The piece that is being written.
  private var pending: Task<Void, any Error>?

  init(_ sink: any ExportSink) { self.sink = sink }

  /// Waits for the piece before, and throws what became of it.
  func write(_ bytes: [UInt8]) async throws { try await write { bytes } }

  /// The same of what `make` makes on that thread.
  func write(_ make: @escaping @Sendable () -> [UInt8]) async throws {
    try await settle()
    pending = Task { [sink] in
      try await onThread { _ in
        let bytes = make()
        if !bytes.isEmpty { try sink.write(bytes) }
      }
    }
  }

  /// All has been written.
  func finish() async throws {
    try await settle()
    try await onThread { [sink] _ in try sink.finish() }
  }

  /// Leaves nothing of what was written, if the sink can do that.
  func discard() async {
    // Not while the thread uses it.
    try? await settle()
    await onThread { [sink] _ in sink.discard() }
  }

  private func settle() async throws {
    defer { pending = nil }
    try await pending?.value
  }
}
