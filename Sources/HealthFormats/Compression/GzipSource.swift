/// The decompressed content of a gzip file (RFC 1952) with any number of members. Verifies the length and checksum of
/// each.
final class GzipSource: ByteSource {
  private static let inputSize = 64 << 10
  /// The maximum size of a header in bytes. Its name, comment and extra fields are skipped.
  private static let maximumHeader = 256 << 10

  private let path: String
  private let input: InputBuffer
  /// The inflater of the current member.
  private var inflater: Inflater?
  private var hasMember = false
  private var limit = ExpansionLimit()

  init(_ source: any ByteSource, path: String) {
    self.path = path
    input = InputBuffer(source, capacity: Self.inputSize)
  }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
    while true {
      guard let inflater = try member() else { return 0 }
      while !inflater.isFinished {
        let isAtEnd = try !input.fill()
        let step: (used: Int, written: Int)
        do throws(Inflater.Damage) {
          step = try inflater.inflate(input.start, count: input.count, into: buffer, capacity: count)
        } catch {
          throw damage("its compressed data makes no sense")
        }
        input.take(step.used)
        try limit.add(used: step.used, written: step.written, path: path)
        if step.written > 0 { return step.written }
        if isAtEnd, !inflater.isFinished { throw endsEarly }
      }
      try checkTrailer(inflater)
      self.inflater = nil
    }
  }

  func close() { input.close() }

  /// Returns the current member or the next one, or `nil` after the last.
  private func member() throws(ImportError) -> Inflater? {
    if let inflater { return inflater }
    guard try input.fill() else {
      if hasMember { return nil }
      throw damage("it is empty")
    }
    if hasMember, input.start.pointee == 0 {
      // Tapes and block devices pad files with zeros.
      while try input.fill() {
        guard input.start.pointee == 0 else { throw damage("something follows its end") }
        input.take(1)
      }
      return nil
    }
    try skipHeader()
    hasMember = true
    let inflater = Inflater()
    self.inflater = inflater
    return inflater
  }

  private func skipHeader() throws(ImportError) {
    var rest = Self.maximumHeader
    func next() throws(ImportError) -> UInt8 {
      rest -= 1
      guard rest > 0 else { throw damage("its header has no end") }
      return try byte()
    }
    guard try next() == 0x1F, try next() == 0x8B, try next() == 8 else {
      throw damage(hasMember ? "something follows its end" : "its header makes no sense")
    }
    let flags = try next()
    guard flags & 0b1110_0000 == 0 else { throw damage("its header makes no sense") }
    // Skip time, compression level and system.
    for _ in 0..<6 { _ = try next() }
    if flags & 0b100 != 0 {
      let low = try next()
      let length = try Int(low) | Int(next()) << 8
      for _ in 0..<length { _ = try next() }
    }
    // Skip a name and a comment.
    for flag in [0b1000, 0b1_0000] as [UInt8] where flags & flag != 0 {
      while try next() != 0 {}
    }
    if flags & 0b10 != 0 { for _ in 0..<2 { _ = try next() } }
  }

  private func checkTrailer(_ inflater: Inflater) throws(ImportError) {
    let (checksum, length) = (try number(), try number())
    guard checksum == inflater.checksum else { throw damage("CRC error") }
    guard length == UInt32(truncatingIfNeeded: inflater.produced) else {
      throw damage("it is not as long as it says")
    }
  }

  private func number() throws(ImportError) -> UInt32 {
    var number: UInt32 = 0
    for index in 0..<4 { number |= UInt32(try byte()) << (8 * index) }
    return number
  }

  private func byte() throws(ImportError) -> UInt8 {
    guard try input.fill() else { throw endsEarly }
    defer { input.take(1) }
    return input.start.pointee
  }

  private var endsEarly: ImportError { damage("its compressed data ends in the middle") }
  private func damage(_ detail: String) -> ImportError { .damagedCompression(path: path, detail: detail) }
}
