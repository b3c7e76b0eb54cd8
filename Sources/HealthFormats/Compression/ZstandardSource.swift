import ZstandardFrames

/// The decompressed content of a file of Zstandard frames. Verifies checksums, if frames have them, and that the last
/// frame is complete.
final class ZstandardSource: ByteSource {
  private static let inputSize = 128 << 10
  private static let outputSize = 128 << 10

  private let path: String
  private let decompressor = ZstandardDecompressor()
  private let input: InputBuffer
  /// A buffer of constant size. The errors that the library reports depend on the size of its output buffer, so
  /// callers' buffers are not passed on.
  private let output: UnsafeMutablePointer<UInt8>
  private var ready = 0..<0
  private var limit = ExpansionLimit()

  init(_ source: any ByteSource, path: String) {
    self.path = path
    input = InputBuffer(source, capacity: Self.inputSize)
    output = .allocate(capacity: Self.outputSize)
  }

  deinit { output.deallocate() }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
    while true {
      if !ready.isEmpty {
        let part = min(count, ready.count)
        buffer.update(from: output + ready.lowerBound, count: part)
        ready.removeFirst(part)
        return part
      }
      let isAtEnd = try !input.fill()
      let step = try step(into: UnsafeMutableRawBufferPointer(start: output, count: Self.outputSize))
      input.take(step.used)
      try limit.add(used: step.used, written: step.written, path: path)
      ready = 0..<step.written
      if isAtEnd, ready.isEmpty {
        guard decompressor.isBetweenFrames else { throw damage("its compressed data ends in the middle") }
        return 0
      }
    }
  }

  private func step(into buffer: UnsafeMutableRawBufferPointer) throws(ImportError) -> (used: Int, written: Int) {
    do throws(ZstandardDecompressor.Failure) {
      return try decompressor.decompress(
        UnsafeRawBufferPointer(start: input.start, count: input.count), into: buffer)
    } catch {
      switch error {
      case .windowTooLarge:
        throw damage("it needs more memory than is allowed: compress it without --long and --ultra")
      case .damaged(let detail): throw damage(detail)
      }
    }
  }

  func close() { input.close() }

  private func damage(_ detail: String) -> ImportError { .damagedCompression(path: path, detail: detail) }
}
