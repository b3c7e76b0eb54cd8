import CISAL

/// A streaming DEFLATE compressor (RFC 1951) that uses ISA-L.
///
/// On samples, its level 1 compresses as well as level 6 of zlib, in a tenth of the time.
final class Deflater {
  /// The container format around the compressed data.
  enum Wrapping: Equatable {
    case none
    /// The gzip format (RFC 1952).
    case gzip
  }

  private static let outputSize = 128 << 10

  // Some hundred KB that must not move in memory.
  private let stream: UnsafeMutablePointer<isal_zstream>
  private let tokens: UnsafeMutablePointer<UInt8>
  private let output: UnsafeMutablePointer<UInt8>

  init(as wrapping: Wrapping) {
    stream = .allocate(capacity: 1)
    tokens = .allocate(capacity: Int(hpeer_deflate_buffer_size))
    output = .allocate(capacity: Self.outputSize)
    isal_deflate_init(stream)
    stream.pointee.level = 1
    stream.pointee.level_buf = tokens
    stream.pointee.level_buf_size = UInt32(hpeer_deflate_buffer_size)
    stream.pointee.gzip_flag = UInt16(wrapping == .gzip ? IGZIP_GZIP : IGZIP_DEFLATE)
  }

  deinit {
    stream.deallocate()
    tokens.deallocate()
    output.deallocate()
  }

  /// Compresses bytes and returns the output that is available so far.
  func deflate(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    bytes.withUnsafeBufferPointer { content in
      var start = 0
      // The library's counts have 32 bits.
      while start < content.count, let base = content.baseAddress {
        let count = min(content.count - start, 1 << 30)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: base + start)
        stream.pointee.avail_in = UInt32(count)
        run(into: &result)
        start += count
      }
    }
    return result
  }

  /// Ends the stream and returns the rest of the output. Call this once.
  func finish() -> [UInt8] {
    stream.pointee.end_of_stream = 1
    stream.pointee.avail_in = 0
    var result: [UInt8] = []
    run(into: &result)
    return result
  }

  private func run(into result: inout [UInt8]) {
    repeat {
      stream.pointee.next_out = output
      stream.pointee.avail_out = UInt32(Self.outputSize)
      let code = isal_deflate(stream)
      // The function fails only for invalid parameters or calls in the wrong order.
      precondition(code == COMP_OK, "deflate: \(code)")
      let written = Self.outputSize - Int(stream.pointee.avail_out)
      result.append(contentsOf: UnsafeBufferPointer(start: output, count: written))
    } while stream.pointee.avail_out == 0
  }
}
