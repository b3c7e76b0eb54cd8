import HealthFormats
import Synchronization

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
