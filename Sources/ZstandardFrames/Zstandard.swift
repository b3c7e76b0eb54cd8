import CZstd

/// Zstandard frames (RFC 8878) that are whole in memory.
package enum Zstandard {
  package enum Failure: Error {
    case notOneFrame
    case tooLarge
    case library(String)
  }

  /// Fast enough never to be waited for, and close to the best for columns and for lines of samples.
  static let level: Int32 = 3

  /// One Zstandard frame (RFC 8878) with its content size in the header.
  package static func compress(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
    var code = 0
    let frame = [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { buffer, count in
      code = ZSTD_compress(buffer.baseAddress, buffer.count, bytes, bytes.count, level)
      if ZSTD_isError(code) == 0 { count = code }
    }
    guard ZSTD_isError(code) == 0 else { throw .library(String(cString: ZSTD_getErrorName(code))) }
    return frame
  }

  /// The content of bytes that are exactly one frame, at most `limit` of it.
  package static func decompress(_ frame: UnsafeRawBufferPointer, limit: Int) throws(Failure) -> [UInt8] {
    let size = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
    // The two highest numbers mean that the size is not said, and that this is no frame.
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
