import CZstd

/// Gives the content of Zstandard frames (RFC 8878), one after the other, that come piece by piece.
package final class ZstandardDecompressor {
  package enum Failure: Error {
    /// It would take more memory than ``maximumWindow``, as what `zstd --long` and `--ultra` make does.
    case windowTooLarge
    /// In the library's words.
    case damaged(String)
  }

  /// Of what has been seen, a decompressor keeps this many bytes at most, as a power of two: 32 MiB. `zstd -19` asks for 8.
  private static let maximumWindow: Int32 = 25

  private let stream: OpaquePointer
  /// Whether what has been read ends with the end of a frame, or is nothing.
  package private(set) var isBetweenFrames = true

  package init() {
    // Only memory can be missing, without which Swift's own arrays end the process, too.
    guard let stream = ZSTD_createDCtx() else { fatalError("no memory for a Zstandard decompressor") }
    self.stream = stream
    ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.maximumWindow)
  }

  deinit { ZSTD_freeDCtx(stream) }

  /// - Returns: how many bytes of `input` were used up and how many were written to `output`. When neither is any, more
  ///   input is needed.
  package func decompress(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Failure) -> (used: Int, written: Int) {
    // Without input, a new frame would be begun.
    if isBetweenFrames, input.isEmpty { return (0, 0) }
    var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
    var room = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
    let rest = ZSTD_decompressStream(stream, &room, &source)
    guard ZSTD_isError(rest) == 0 else {
      if ZSTD_getErrorCode(rest) == ZSTD_error_frameParameter_windowTooLarge { throw .windowTooLarge }
      throw .damaged(String(cString: ZSTD_getErrorName(rest)))
    }
    isBetweenFrames = rest == 0
    return (source.pos, room.pos)
  }
}
