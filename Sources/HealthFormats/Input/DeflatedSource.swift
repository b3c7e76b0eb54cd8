/// The decompressed content of a deflated file in a zip archive. Verifies size and checksum at the end.
final class DeflatedSource: ByteSource {
  private static let inputSize = 64 << 10

  private let path: String
  private let size: DeclaredSize
  private let checksum: UInt32
  private let inflater = Inflater()
  private let input: InputBuffer

  /// Creates a source.
  ///
  /// - Parameter source: the raw DEFLATE data.
  init(_ source: any ByteSource, path: String, size: DeclaredSize, checksum: UInt32) {
    self.path = path
    self.size = size
    self.checksum = checksum
    input = InputBuffer(source, capacity: Self.inputSize)
  }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
    while !inflater.isFinished {
      let isAtEnd = try !input.fill()
      let written: Int
      do throws(Inflater.Damage) {
        let step = try inflater.inflate(input.start, count: input.count, into: buffer, capacity: count)
        input.take(step.used)
        written = step.written
      } catch {
        throw damage("its compressed data makes no sense")
      }
      if !size.allows(inflater.produced) { throw damage("a file in it is larger than it declares") }
      if written > 0 { return written }
      if isAtEnd, !inflater.isFinished { throw damage("its compressed data ends in the middle") }
    }
    if !size.isThat(inflater.produced) { throw damage("a file in it is not as long as it declares") }
    if inflater.checksum != checksum { throw damage("CRC error") }
    return 0
  }

  func close() { input.close() }

  private func damage(_ detail: String) -> ImportError { .damagedZip(path: path, detail: detail, someKept: false) }
}
