/// An error that is thrown if stored cells are truncated or invalid, which means that the file is damaged.
struct RollupDamage: Error {}

/// An encoder of cells.
struct CellWriter {
  private(set) var bytes: [UInt8] = []

  /// Appends a number in seven-bit groups, the lowest first (LEB128).
  mutating func write(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Appends a signed number in zigzag encoding, which is short for numbers near 0.
  mutating func write(_ value: Int64) {
    write(UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  mutating func write(_ value: Double) {
    withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func write(byte: UInt8) { bytes.append(byte) }

  mutating func write(_ others: some Sequence<UInt8>) { bytes.append(contentsOf: others) }
}

/// A decoder of the output of ``CellWriter``, which throws ``RollupDamage`` for anything else.
struct CellReader {
  /// The bytes, which are not owned: valid only within the closure that lends them.
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { position == bytes.count }

  mutating func byte() throws(RollupDamage) -> UInt8 {
    guard position < bytes.count else { throw RollupDamage() }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func unsigned() throws(RollupDamage) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      let byte = try byte()
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    throw RollupDamage()
  }

  mutating func integer() throws(RollupDamage) -> Int64 {
    let value = try unsigned()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  mutating func double() throws(RollupDamage) -> Double {
    guard bytes.count - position >= 8 else { throw RollupDamage() }
    defer { position += 8 }
    return Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
  }
}
