/// A reader of compiled time zone rules (RFC 8536), as found in `/usr/share/zoneinfo`.
struct TZif {
  /// The maximum file size, a hundred times that of the largest file in the database.
  static let maximumBytes = 1 << 20

  /// The instants at which the offset of the same index begins, in seconds since 1970, ascending.
  private(set) var transitions: [Int64] = []
  /// The offset from each transition on, in seconds east of UTC.
  private(set) var offsets: [Int] = []
  /// The offset before the first transition.
  private(set) var first = 0
  /// The rule after the last transition, or `nil` if the last offset stays in force.
  private(set) var rule: ZoneRule?

  private var bytes: ArraySlice<UInt8>

  /// Reads a file.
  ///
  /// - Throws: ``ZoneError/malformed(_:)`` with the reason.
  init(_ file: [UInt8]) throws(ZoneError) {
    guard file.count <= Self.maximumBytes else { throw .malformed("it is too long") }
    bytes = file[...]
    var header = try Header(&bytes)
    if header.version >= 2 {
      // The first part is only for readers of 32-bit times.
      try skip(header.size(ofTime: 4))
      header = try Header(&bytes)
      try read(header, timeSize: 8)
      try readRule()
    } else {
      try read(header, timeSize: 4)
    }
    bytes = []
  }

  private struct Header {
    var version: Int
    var universal, standard, leaps, times, types, characters: Int

    init(_ bytes: inout ArraySlice<UInt8>) throws(ZoneError) {
      guard bytes.count >= 44, bytes.prefix(4).elementsEqual("TZif".utf8) else {
        throw .malformed("it is no TZif file")
      }
      let mark = bytes[bytes.startIndex + 4]
      version = mark == 0 ? 1 : Int(mark) - 0x30
      bytes.removeFirst(20)
      func next() -> Int { Int(TZif.integer(&bytes, 4)) }
      (universal, standard, leaps) = (next(), next(), next())
      (times, types, characters) = (next(), next(), next())
      // This is a thousand times more than any zone has.
      for count in [universal, standard, leaps, times, characters] where !(0...100_000).contains(count) {
        throw .malformed("it announces more than a zone has")
      }
      guard (1...256).contains(types) else { throw .malformed("it has no offsets") }
    }

    func size(ofTime size: Int) -> Int {
      times * (size + 1) + types * 6 + characters + leaps * (size + 4) + standard + universal
    }
  }

  private static func integer(_ bytes: inout ArraySlice<UInt8>, _ size: Int) -> Int64 {
    var value: Int64 = 0
    for byte in bytes.prefix(size) { value = value << 8 | Int64(byte) }
    bytes.removeFirst(size)
    return size == 4 ? Int64(Int32(truncatingIfNeeded: value)) : value
  }

  private mutating func skip(_ count: Int) throws(ZoneError) {
    guard bytes.count >= count else { throw .malformed("it ends too early") }
    bytes.removeFirst(count)
  }

  private mutating func read(_ header: Header, timeSize: Int) throws(ZoneError) {
    guard bytes.count >= header.size(ofTime: timeSize) else { throw .malformed("it ends too early") }
    for _ in 0..<header.times { transitions.append(Self.integer(&bytes, timeSize)) }
    guard zip(transitions, transitions.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw .malformed("its times are not in order")
    }
    let indices = bytes.prefix(header.times)
    bytes.removeFirst(header.times)
    var types: [Int] = []
    for _ in 0..<header.types {
      types.append(Int(Self.integer(&bytes, 4)))
      bytes.removeFirst(2)
    }
    guard types.allSatisfy(ZoneRule.offsets.contains) else { throw .malformed("an offset is longer than a day") }
    for index in indices {
      guard Int(index) < types.count else { throw .malformed("a time has no offset") }
      offsets.append(types[Int(index)])
    }
    first = types[0]
    bytes.removeFirst(header.characters + header.leaps * (timeSize + 4) + header.standard + header.universal)
  }

  /// Reads the footer: a rule between two line feeds, or nothing between them.
  private mutating func readRule() throws(ZoneError) {
    guard bytes.first == 0x0A, let end = bytes.dropFirst().firstIndex(of: 0x0A) else {
      throw .malformed("its last line is missing")
    }
    let text = bytes[(bytes.startIndex + 1)..<end]
    if !text.isEmpty { rule = try ZoneRule(text) }
  }
}
