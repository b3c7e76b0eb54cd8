/// ``Metadata`` as the text of one JSON object (RFC 8259): keys in ascending order of their UTF-8 bytes, no white space,
/// and nothing escaped that need not be. Metadata that are exactly equal have equal texts.
///
/// Written by hand, because a third of all samples have metadata and an encoder takes longer than all the rest.
public enum MetadataText {
  public static func encode(_ metadata: Metadata) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(64)
    bytes.append(UInt8(ascii: "{"))
    let entries = metadata.count < 2 ? Array(metadata) : metadata.sorted { precedes($0.key, $1.key) }
    for (index, (key, value)) in entries.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(string: key, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      append(value, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether a text is surely one that ``encode(_:)`` makes of some metadata, and ``CanonicalJSON`` too. False also for one
  /// that holds escapes, fractions, dates or keys beyond ASCII: whoever decodes and encodes those again has the same text,
  /// or learns that it is none.
  public static func isPlain(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { utf8 in
      var scanner = PlainMetadataScanner(utf8)
      return scanner.isObject()
    }
  }

  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  private static func append(_ value: MetadataValue, to bytes: inout [UInt8]) {
    switch value {
    case .string(let text): append(string: text, to: &bytes)
    case .integer(let integer): bytes.append(contentsOf: String(integer).utf8)
    case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    case .number(let number):
      let digits = number.isFinite ? "\(number)" : number.isNaN ? "\"nan\"" : number < 0 ? "\"-inf\"" : "\"inf\""
      bytes.append(contentsOf: "{\"number\":\(digits)}".utf8)
    case .date(let date): bytes.append(contentsOf: "{\"date\":\"\(date.iso8601)\"}".utf8)
    }
  }

  private static func append(string: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
      case 0..<0x20:
        bytes.append(contentsOf: "\\u00".utf8)
        for digit in [byte >> 4, byte & 15] { bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit) }
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

/// Recognises the commonest form of a metadata text.
private struct PlainMetadataScanner {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  mutating func isObject() -> Bool {
    guard take("{") else { return false }
    var previous: Slice<UnsafeBufferPointer<UInt8>>?
    repeat {
      guard let key = string(), take(":") else { return false }
      // Ascending, and so none twice.
      if let previous, !previous.lexicographicallyPrecedes(key) { return false }
      // Of others, two may be one key to Swift: letters combine.
      guard key.allSatisfy({ $0 < 0x80 }) else { return false }
      previous = key
      guard isValue() else { return false }
    } while take(",")
    return take("}") && position == bytes.count
  }

  private mutating func isValue() -> Bool {
    guard position < bytes.count else { return false }
    switch bytes[position] {
    case UInt8(ascii: "\""): return string() != nil
    case UInt8(ascii: "t"): return take("true")
    case UInt8(ascii: "f"): return take("false")
    default: return isInteger()
    }
  }

  /// Without leading zeros, of at most 18 digits: any fits into 64 bits.
  private mutating func isInteger() -> Bool {
    let isNegative = take("-")
    let start = position
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
    let count = position - start
    guard (1...18).contains(count) else { return false }
    return bytes[start] != 0x30 || (count == 1 && !isNegative)
  }

  private mutating func string() -> Slice<UnsafeBufferPointer<UInt8>>? {
    guard take("\"") else { return nil }
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      guard bytes[position] >= 0x20, bytes[position] != UInt8(ascii: "\\") else { return nil }
      position += 1
    }
    guard position < bytes.count else { return nil }
    position += 1
    return bytes[start..<position - 1]
  }

  private mutating func take(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - position >= count else { return false }
    for offset in 0..<count where bytes[position + offset] != text.utf8Start[offset] { return false }
    position += count
    return true
  }
}
