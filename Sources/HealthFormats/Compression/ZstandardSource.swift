import ZstandardFrames

/// The content of a file of Zstandard frames. Checksums are compared where frames have them, and the last must be whole.
final class ZstandardSource: ByteSource {
  private static let inputSize = 128 << 10
  private static let outputSize = 128 << 10

  private let source: any ByteSource
  private let path: String
  private let decompressor = ZstandardDecompressor()
  private let input: UnsafeMutablePointer<UInt8>
  private var position = 0
  private var filled = 0
  /// Whatever is asked for, the library gets the same room: what it finds wrong with a frame depends on that.
  private let output: UnsafeMutablePointer<UInt8>
  private var ready = 0..<0
  private var limit = ExpansionLimit()

  init(_ source: any ByteSource, path: String) {
    self.source = source
    self.path = path
    input = .allocate(capacity: Self.inputSize)
    output = .allocate(capacity: Self.outputSize)
  }

  deinit {
    close()
    input.deallocate()
    output.deallocate()
  }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
    while true {
      if !ready.isEmpty {
        let part = min(count, ready.count)
        buffer.update(from: output + ready.lowerBound, count: part)
        ready.removeFirst(part)
        return part
      }
      if position == filled {
        position = 0
        filled = try source.read(into: input, count: Self.inputSize)
      }
      let isAtEnd = filled == 0
      let step = try step(into: UnsafeMutableRawBufferPointer(start: output, count: Self.outputSize))
      position += step.used
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
        UnsafeRawBufferPointer(start: input + position, count: filled - position), into: buffer)
    } catch {
      switch error {
      case .windowTooLarge:
        throw damage("it needs more memory than is allowed: compress it without --long and --ultra")
      case .damaged(let detail): throw damage(detail)
      }
    }
  }

  func close() { source.close() }

  private func damage(_ detail: String) -> ImportError { .damagedCompression(path: path, detail: detail) }
}
