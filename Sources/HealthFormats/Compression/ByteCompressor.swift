import ZstandardFrames

/// A streaming compressor that uses constant memory. Used by one thread at a time.
package protocol ByteCompressor: AnyObject {
  /// Compresses bytes and returns the output that is available so far.
  func compress(_ bytes: [UInt8]) -> [UInt8]
  /// Ends the stream and returns the rest of the output. Call this once.
  func finish() -> [UInt8]
}

extension ZstandardCompressor: ByteCompressor {}

/// A compressor that makes a gzip file (RFC 1952) with a single member, without name or time.
final class GzipCompressor: ByteCompressor {
  private let deflater = Deflater(as: .gzip)

  func compress(_ bytes: [UInt8]) -> [UInt8] { deflater.deflate(bytes) }
  func finish() -> [UInt8] { deflater.finish() }
}
