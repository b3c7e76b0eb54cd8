import CZstd

/// A decompressor for consecutive Zstandard frames (RFC 8878) that arrive in pieces.
package final class ZstandardDecompressor {
  package enum Failure: Error {
    /// The frame needs a window larger than ``maximumWindow``, as files made with `zstd --long` or `--ultra` do.
    case windowTooLarge
    /// The input is damaged, as described by the library.
    case damaged(String)
  }

  /// The maximum window, as a power of two: 32 MiB of decompressed data are kept at most. `zstd -19` uses 8 MiB.
  private static let maximumWindow: Int32 = 25

  private let stream: OpaquePointer
  /// Whether the input so far is empty or ends with a complete frame.
  package private(set) var isBetweenFrames = true

  package init() {
    // Creation fails only without memory, and then Swift's own arrays end the process, too.
    guard let stream = ZSTD_createDCtx() else { fatalError("no memory for a Zstandard decompressor") }
    self.stream = stream
    ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.maximumWindow)
  }

  deinit { ZSTD_freeDCtx(stream) }

  /// Decompresses more input.
  ///
  /// - Returns: the number of bytes read from `input` and written to `output`. If both are zero, more input is
  ///   needed.
  package func decompress(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Failure) -> (used: Int, written: Int) {
    // A call without input would start a new frame.
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
