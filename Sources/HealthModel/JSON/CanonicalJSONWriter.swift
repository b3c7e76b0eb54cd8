/// Writes what ``CanonicalJSON`` makes of a value, for the payloads of which there are many: an encoder takes some ten
/// times as long. Whoever writes the members of an object does so in the order of their names.
struct CanonicalJSONWriter {
  private var bytes: [UInt8] = []
  /// Whether a member or element stands before the next.
  private var needsComma = false

  private init(capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  /// - Parameter capacity: bytes, about.
  static func text(capacity: Int, _ write: (inout Self) throws -> Void) rethrows -> String {
    var writer = Self(capacity: capacity)
    try write(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  // MARK: Values

  mutating func object(_ members: (inout Self) throws -> Void) rethrows {
    try enclosed(by: UInt8(ascii: "{"), UInt8(ascii: "}"), members)
  }

  mutating func array<Element>(_ elements: some Sequence<Element>, _ write: (Element, inout Self) throws -> Void)
    rethrows
  {
    try enclosed(by: UInt8(ascii: "["), UInt8(ascii: "]")) { json in
      for element in elements { try write(element, &json) }
    }
  }

  mutating func string(_ text: String) {
    separate()
    append(quoted: text)
  }

  /// `"nan"`, `"inf"` or `"-inf"` for what JSON has no number for.
  mutating func number(_ value: Double) {
    separate()
    guard value.isFinite else {
      return append(value.isNaN ? "\"nan\"" : value < 0 ? "\"-inf\"" : "\"inf\"")
    }
    var digits = value.description
    digits.withUTF8 { utf8 in
      // As the encoder writes whole numbers.
      let isWhole = utf8.count > 2 && utf8[utf8.count - 1] == 0x30 && utf8[utf8.count - 2] == 0x2E
      bytes.append(contentsOf: isWhole ? UnsafeBufferPointer(rebasing: utf8.dropLast(2)) : utf8)
    }
  }

  mutating func null() {
    separate()
    append("null")
  }

  /// JSON that somebody else wrote.
  mutating func json(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
  }

  mutating func encode(_ value: some Encodable) throws {
    json(try CanonicalJSON.encode(value))
  }

  // MARK: Members

  /// The name of a member, whose value is written next.
  mutating func name(_ name: String) {
    separate()
    append(quoted: name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func member(_ name: String, _ text: String?) {
    guard let text else { return }
    self.name(name)
    string(text)
  }

  mutating func member(_ name: String, _ value: Double?) {
    guard let value else { return }
    self.name(name)
    number(value)
  }

  mutating func member(_ name: String, _ date: Timestamp?) {
    member(name, date?.iso8601)
  }

  /// Left out when empty.
  mutating func member<Element>(
    _ name: String, _ elements: some Collection<Element>, _ write: (Element, inout Self) throws -> Void
  ) rethrows {
    if elements.isEmpty { return }
    self.name(name)
    try array(elements, write)
  }

  // MARK: Bytes

  private mutating func enclosed(
    by open: UInt8, _ close: UInt8, _ content: (inout Self) throws -> Void
  ) rethrows {
    separate()
    bytes.append(open)
    needsComma = false
    try content(&self)
    bytes.append(close)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func append(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func append(quoted text: String) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { utf8 in
      if utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
        for byte in utf8 { append(escaping: byte) }
      } else {
        bytes.append(contentsOf: utf8)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func append(escaping byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"")
    case UInt8(ascii: "\\"): append("\\\\")
    case 0x08: append("\\b")
    case 0x09: append("\\t")
    case 0x0A: append("\\n")
    case 0x0C: append("\\f")
    case 0x0D: append("\\r")
    case 0..<0x20:
      append("\\u00")
      for digit in [byte >> 4, byte & 15] { bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit) }
    default: bytes.append(byte)
    }
  }
}

extension Dictionary where Key == String {
  /// As the members of an object are written: by the bytes of their names.
  var inCanonicalOrder: [Element] { sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } }
}
