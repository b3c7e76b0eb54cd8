import HealthFormats
import HealthModel
import OperatingSystem
import Synchronization

/// A destination for the bytes of an export.
public protocol ExportSink: Sendable {
  /// Takes the next bytes. May block; called on a separate thread.
  func write(_ bytes: [UInt8]) throws
  /// Completes the output. May block.
  func finish() throws
  /// Discards the output of a failed export. May be called after ``finish()``, and more than once.
  func discard()
}

/// The reasons why an export cannot be written.
public enum ExportError: Error, Hashable, Sendable {
  /// The path is a folder, but a file name is needed.
  case isFolder(path: String)
  /// The path is not a folder, but several files were to be written into it.
  case isNoFolder(path: String)
  /// A file exists at the path and may not be replaced. It was found before the export, or appeared during it;
  /// nothing of the export is left. Choose another name, or allow replacing.
  case alreadyThere(path: String)
  /// The format is not written from beginning to end, so it cannot be streamed, compressed or divided.
  case needsFile(ExportFormat)
  /// The disk or the user's quota is full. Nothing of the export is left.
  case diskFull(path: String)
  /// The number of samples of a type that were read differs from the number in the store. Nothing of the export is
  /// left, because it would be incomplete.
  case incomplete(SampleType, read: Int, held: Int)
  /// The file cannot be written.
  ///
  /// - Parameter reason: the system's error message.
  case unwritable(path: String, reason: String)
}

/// A sink that compresses bytes for another sink.
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

/// A queue that writes to a sink on a separate thread, one piece behind, so that the next piece is prepared while the
/// disk or a compressor is busy. Used by one task.
actor OutputQueue {
  private let sink: any ExportSink
  /// The piece that is being written.
  private var pending: Task<Void, any Error>?

  init(_ sink: any ExportSink) { self.sink = sink }

  /// Waits for the previous piece, throws its error if it failed, and begins to write the bytes.
  func write(_ bytes: [UInt8]) async throws { try await write { bytes } }

  /// Waits for the previous piece, then writes the bytes that `make` returns on the sink's thread.
  func write(_ make: @escaping @Sendable () -> [UInt8]) async throws {
    try await settle()
    pending = Task { [sink] in
      try await onThread { _ in
        let bytes = make()
        if !bytes.isEmpty { try sink.write(bytes) }
      }
    }
  }

  /// Waits for the last piece and completes the output.
  func finish() async throws {
    try await settle()
    try await onThread { [sink] _ in try sink.finish() }
  }

  /// Discards what was written, if the sink supports that.
  func discard() async {
    // The sink must not be used by two threads.
    try? await settle()
    await onThread { [sink] _ in sink.discard() }
  }

  private func settle() async throws {
    defer { pending = nil }
    try await pending?.value
  }
}
