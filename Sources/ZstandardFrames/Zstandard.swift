import CZstd

/// Zstandard frames (RFC 8878) that are completely in memory.
package enum Zstandard {
  package enum Failure: Error {
    case notOneFrame
    case tooLarge
    case library(String)
  }

  /// The compression level: fast enough that it causes no delay, and close to the best for columns and lines of
  /// samples.
  static let level: Int32 = 3

  /// Returns a Zstandard frame (RFC 8878) with its content size in the header.
  package static func compress(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
    var code = 0
    let frame = [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { buffer, count in
      code = ZSTD_compress(buffer.baseAddress, buffer.count, bytes, bytes.count, level)
      if ZSTD_isError(code) == 0 { count = code }
    }
    guard ZSTD_isError(code) == 0 else { throw .library(String(cString: ZSTD_getErrorName(code))) }
    return frame
  }

  /// The maximum size of a block, in bytes (RFC 8878 section 3.1.1.2).
  private static let mostOfBlock = 128 << 10

  /// Returns a frame of uncompressed blocks (RFC 8878 section 3.1.1), with its size, below 4 GiB, in the header.
  package static func store(_ bytes: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    frame.reserveCapacity(bytes.count + bytes.count / mostOfBlock * 3 + 16)
    // The descriptor says: a content size of four bytes, a single segment (so no window), no checksum.
    frame.append(0b1010_0000)
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: bytes.count).littleEndian) { frame.append(contentsOf: $0) }
    var start = 0
    repeat {
      let end = min(start + mostOfBlock, bytes.count)
      let header = UInt32(end - start) << 3 | (end == bytes.count ? 1 : 0)
      withUnsafeBytes(of: header.littleEndian) { frame.append(contentsOf: $0.prefix(3)) }
      frame.append(contentsOf: bytes[start..<end])
      start = end
    } while start < bytes.count
    return frame
  }

  /// Returns the content of bytes that are exactly one frame; throws if it exceeds `limit` bytes.
  package static func decompress(_ frame: UnsafeRawBufferPointer, limit: Int) throws(Failure) -> [UInt8] {
    let size = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
    // The two highest values stand for an unknown size and for an invalid frame.
    guard size < .max - 1, ZSTD_findFrameCompressedSize(frame.baseAddress, frame.count) == frame.count else {
      throw .notOneFrame
    }
    guard size <= limit else { throw .tooLarge }
    let content = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
      let code = ZSTD_decompress(buffer.baseAddress, buffer.count, frame.baseAddress, frame.count)
      if ZSTD_isError(code) == 0 { count = code }
    }
    guard content.count == Int(size) else { throw .notOneFrame }
    return content
  }
}
