/// A fast coding of JSON objects in which some members are long arrays of numbers. A route has hundreds of thousands
/// of numbers, and an encoder or decoder takes a microsecond for each.
enum NumberColumns {
  /// Returns the ``CanonicalJSON`` text of an object with the members of `head` and these columns.
  ///
  /// - Parameter columns: the columns in the order of their names. `nil` becomes `null`.
  static func encode(_ head: some Encodable, columns: [(name: String, values: [Double?])]) throws -> String {
    let members = try CanonicalJSON.decode([String: JSONValue].self, CanonicalJSON.encode(head))
    var pieces: [(name: String, value: Either)] = columns.map { ($0.name, .column($0.values)) }
    pieces += try members.map { ($0.key, .text(try CanonicalJSON.encode($0.value))) }
    pieces.sort { $0.name < $1.name }
    // Reserve generously: untouched capacity costs no memory, but growing would copy the whole text.
    return CanonicalJSONWriter.text(capacity: 64 + columns.reduce(0) { $0 + $1.values.count * 18 }) { json in
      json.object { json in
        for piece in pieces {
          json.name(piece.name)
          switch piece.value {
          case .text(let text): json.json(text)
          case .column(let values):
            json.array(values) { value, json in
              if let value { json.number(value) } else { json.null() }
            }
          }
        }
      }
    }
  }

  private enum Either {
    case text(String)
    case column([Double?])
  }

  /// Splits an object into columns of numbers and the remaining members. Returns `nil` for text in any other form
  /// than ``encode(_:columns:)`` writes, which must then be decoded by a general decoder.
  static func decode(_ text: String, names: Set<String>) -> (head: String, columns: [String: [Double?]])? {
    var text = text
    return text.withUTF8 { utf8 in
      var scanner = NumberColumnScanner(utf8)
      return scanner.object(names)
    }
  }
}

private struct NumberColumnScanner {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  mutating func object(_ names: Set<String>) -> (head: String, columns: [String: [Double?]])? {
    guard take("{") else { return nil }
    var head = Array("{".utf8)
    var columns: [String: [Double?]] = [:]
    repeat {
      guard let name = string(), take(":") else { return nil }
      if names.contains(name) {
        guard columns[name] == nil, let column = column() else { return nil }
        columns[name] = column
      } else {
        let start = position
        guard skipValue() else { return nil }
        if head.count > 1 { head.append(UInt8(ascii: ",")) }
        head.append(contentsOf: "\"\(name)\":".utf8)
        head.append(contentsOf: bytes[start..<position])
      }
    } while take(",")
    guard take("}"), position == bytes.count else { return nil }
    head.append(UInt8(ascii: "}"))
    return (String(decoding: head, as: UTF8.self), columns)
  }

  private mutating func column() -> [Double?]? {
    guard take("[") else { return nil }
    var values: [Double?] = []
    if take("]") { return values }
    repeat {
      if take("null") {
        values.append(nil)
      } else {
        guard let number = number() else { return nil }
        values.append(number)
      }
    } while take(",")
    return take("]") ? values : nil
  }

  /// Reads a number in JSON's grammar (RFC 8259 section 6).
  private mutating func number() -> Double? {
    let start = position
    let isNegative = take("-")
    let integerStart = position
    var mantissa: UInt64 = 0
    var digits = 0
    var scale = 0
    takeDigits(into: &mantissa, &digits)
    let integerDigits = position - integerStart
    guard integerDigits == 1 || integerDigits > 1 && bytes[integerStart] != 0x30 else { return nil }
    if take(".") {
      let fractionStart = position
      takeDigits(into: &mantissa, &digits)
      scale = position - fractionStart
      if scale == 0 { return nil }
    }
    if position < bytes.count, bytes[position] | 0x20 != 0x65, digits <= 15, scale <= 22 {
      // Both operands are exact and IEEE 754 rounds a single operation correctly.
      let magnitude = Double(mantissa) / Self.powers[scale]
      return isNegative ? -magnitude : magnitude
    }
    if take("e") || take("E") {
      if !take("-") { _ = take("+") }
      let exponentStart = position
      while isAtDigit { position += 1 }
      if position == exponentStart { return nil }
    }
    guard let value = Double(String(decoding: bytes[start..<position], as: UTF8.self)), value.isFinite else {
      return nil
    }
    return value
  }

  private var isAtDigit: Bool { position < bytes.count && bytes[position] &- 0x30 < 10 }

  private mutating func takeDigits(into mantissa: inout UInt64, _ count: inout Int) {
    while isAtDigit {
      if count < 18 { mantissa = mantissa * 10 + UInt64(bytes[position] - 0x30) }
      count += 1
      position += 1
    }
  }

  /// Reads a string without escapes.
  private mutating func string() -> String? {
    guard take("\"") else { return nil }
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      guard bytes[position] >= 0x20, bytes[position] != UInt8(ascii: "\\") else { return nil }
      position += 1
    }
    guard position < bytes.count else { return nil }
    position += 1
    return String(decoding: bytes[start..<position - 1], as: UTF8.self)
  }

  /// Skips any value, up to the comma or bracket that follows.
  private mutating func skipValue() -> Bool {
    var depth = 0
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
          position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position += 1
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return true }
        depth -= 1
      case UInt8(ascii: ",") where depth == 0: return true
      default: break
      }
      position += 1
    }
    return false
  }

  private mutating func take(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - position >= count else { return false }
    for offset in 0..<count where bytes[position + offset] != text.utf8Start[offset] { return false }
    position += count
    return true
  }

  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]
}
