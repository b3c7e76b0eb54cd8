import CZstd

/// A compressor that writes one Zstandard frame (RFC 8878) with a checksum, from content that arrives in pieces.
package final class ZstandardCompressor {
  private let stream: OpaquePointer
  private var output = [UInt8](repeating: 0, count: ZSTD_CStreamOutSize())

  /// Creates a compressor, which uses some 4 MB of memory.
  package init() {
    // Creation fails only without memory, and then Swift's own arrays end the process, too.
    guard let stream = ZSTD_createCCtx() else { fatalError("no memory for a Zstandard compressor") }
    self.stream = stream
    // Both values are within the bounds of every version of the library.
    ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, Zstandard.level)
    ZSTD_CCtx_setParameter(stream, ZSTD_c_checksumFlag, 1)
  }

  deinit { ZSTD_freeCCtx(stream) }

  /// Compresses more content. Returns the bytes available so far; the rest comes later.
  package func compress(_ bytes: [UInt8]) -> [UInt8] { run(bytes, ZSTD_e_continue) }

  /// Returns the end of the frame. Call it once.
  package func finish() -> [UInt8] { run([], ZSTD_e_end) }

  private func run(_ bytes: [UInt8], _ directive: ZSTD_EndDirective) -> [UInt8] {
    var result: [UInt8] = []
    bytes.withUnsafeBytes { content in
      var input = ZSTD_inBuffer(src: content.baseAddress, size: content.count, pos: 0)
      while true {
        let (written, rest) = output.withUnsafeMutableBytes { room in
          var buffer = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
          let rest = ZSTD_compressStream2(stream, &buffer, &input, directive)
          // The library only rejects invalid parameters and calls out of order.
          precondition(ZSTD_isError(rest) == 0, String(cString: ZSTD_getErrorName(rest)))
          return (buffer.pos, rest)
        }
        result.append(contentsOf: output[..<written])
        if directive == ZSTD_e_end ? rest == 0 : input.pos == input.size { return }
      }
    }
    return result
  }
}
