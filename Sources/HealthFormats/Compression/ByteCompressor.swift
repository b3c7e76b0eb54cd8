import ZstandardFrames

/// Compresses bytes piece by piece, in constant memory. Used by one thread at a time.
package protocol ByteCompressor: AnyObject {
  /// What can be said so far; the rest comes later.
  func compress(_ bytes: [UInt8]) -> [UInt8]
  /// The end; to be called once.
  func finish() -> [UInt8]
}

extension ZstandardCompressor: ByteCompressor {}

/// Makes a gzip file (RFC 1952) of one member, without a name or a time in it.
final class GzipCompressor: ByteCompressor {
  private let deflater = Deflater(as: .gzip)

  func compress(_ bytes: [UInt8]) -> [UInt8] { deflater.deflate(bytes) }
  func finish() -> [UInt8] { deflater.finish() }
}
