import Foundation
import HealthModel

/// Parses a JSON value (RFC 8259) in memory, strictly.
struct JSONParser {
  struct Failure: Error {
    /// The offset of the error in bytes.
    var offset: Int
    var what: String
  }

  /// Parses a value. A whole number that fits becomes an integer. If a member name occurs twice, the last one counts.
  static func parse(_ bytes: ArraySlice<UInt8>) throws(Failure) -> JSONValue {
    // The closure cannot throw typed errors.
    let result = bytes.withUnsafeBufferPointer { buffer -> Result<JSONValue, Failure> in
      var parser = JSONParser(bytes: buffer)
      do throws(Failure) {
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.index == buffer.count else { throw parser.failure("something follows the value") }
        return .success(value)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  private var index = 0

  private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  private func failure(_ what: String) -> Failure { Failure(offset: index, what: what) }

  private mutating func value(depth: Int) throws(Failure) -> JSONValue {
    skipSpace()
    guard index < bytes.count else { throw failure("a value is expected") }
    guard depth <= JSONScanner.maximumDepth else { throw failure("too deep a nesting") }
    switch bytes[index] {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), 0x30...0x39: return try number()
    default: throw failure("a value is expected")
    }
  }

  private mutating func object(depth: Int) throws(Failure) -> JSONValue {
    var members: [String: JSONValue] = [:]
    index += 1
    skipSpace()
    if take(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipSpace()
      guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw failure("a member name is expected") }
      let name = try string()
      skipSpace()
      guard take(UInt8(ascii: ":")) else { throw failure("a colon is expected") }
      members[name] = try value(depth: depth + 1)
      skipSpace()
      if take(UInt8(ascii: "}")) { return .object(members) }
      guard take(UInt8(ascii: ",")) else { throw failure("a comma is expected") }
    }
  }

  private mutating func array(depth: Int) throws(Failure) -> JSONValue {
    var elements: [JSONValue] = []
    index += 1
    skipSpace()
    if take(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      elements.append(try value(depth: depth + 1))
      skipSpace()
      if take(UInt8(ascii: "]")) { return .array(elements) }
      guard take(UInt8(ascii: ",")) else { throw failure("a comma is expected") }
    }
  }

  // MARK: Scalars

  private mutating func word(_ text: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
    let count = text.utf8CodeUnitCount
    guard bytes.count - index >= count else { throw failure("a value is expected") }
    for offset in 0..<count where bytes[index + offset] != text.utf8Start[offset] {
      throw failure("a value is expected")
    }
    index += count
    return value
  }

  private mutating func number() throws(Failure) -> JSONValue {
    let start = index
    var isWhole = true
    _ = take(UInt8(ascii: "-"))
    let leadingZero = index < bytes.count && bytes[index] == 0x30
    guard case let count = digits(), count > 0, count == 1 || !leadingZero else {
      throw failure("a number is expected")
    }
    if take(UInt8(ascii: ".")) {
      isWhole = false
      guard digits() > 0 else { throw failure("digits are expected") }
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      isWhole = false
      if !take(UInt8(ascii: "-")) { _ = take(UInt8(ascii: "+")) }
      guard digits() > 0 else { throw failure("digits are expected") }
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if isWhole, let integer = Int64(text) { return .integer(integer) }
    guard let number = Double(text), number.isFinite else {
      index = start
      throw failure("a number is too large")
    }
    // As in the other decoders, every whole number is an integer, however it is spelled.
    return Int64(exactly: number).map(JSONValue.integer) ?? .number(number)
  }

  private mutating func digits() -> Int {
    let start = index
    while index < bytes.count, bytes[index] &- 0x30 < 10 { index += 1 }
    return index - start
  }

  private mutating func string() throws(Failure) -> String {
    index += 1
    let start = index
    while index < bytes.count, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\"),
      bytes[index] >= 0x20
    { index += 1 }
    guard index < bytes.count else { throw failure("a text does not end") }
    if take(UInt8(ascii: "\"")) { return try text(bytes[start..<index - 1], from: start) }
    var output = Array(bytes[start..<index])
    while index < bytes.count {
      let byte = bytes[index]
      guard byte >= 0x20 else { throw failure("a text holds a control character") }
      index += 1
      switch byte {
      case UInt8(ascii: "\""): return try text(output[...], from: start)
      case UInt8(ascii: "\\"): try escape(into: &output)
      default: output.append(byte)
      }
    }
    throw failure("a text does not end")
  }

  private func text(_ bytes: some Collection<UInt8>, from start: Int) throws(Failure) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(offset: start, what: "a text is not UTF-8")
    }
    return text
  }

  private mutating func escape(into output: inout [UInt8]) throws(Failure) {
    guard index < bytes.count else { throw failure("a text does not end") }
    let byte = bytes[index]
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): output.append(byte)
    case UInt8(ascii: "b"): output.append(0x08)
    case UInt8(ascii: "f"): output.append(0x0C)
    case UInt8(ascii: "n"): output.append(0x0A)
    case UInt8(ascii: "r"): output.append(0x0D)
    case UInt8(ascii: "t"): output.append(0x09)
    case UInt8(ascii: "u"):
      var value = try hex()
      if value & 0xFC00 == 0xD800 {
        guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), case let low = try hex(), low & 0xFC00 == 0xDC00 else {
          throw failure("half a surrogate pair")
        }
        value = 0x10000 + (value & 0x3FF) << 10 + (low & 0x3FF)
      }
      guard let scalar = Unicode.Scalar(value) else { throw failure("half a surrogate pair") }
      output.append(contentsOf: UTF8.encode(scalar) ?? .init())
    default:
      index -= 1
      throw failure("an unknown escape")
    }
  }

  private mutating func hex() throws(Failure) -> UInt32 {
    guard bytes.count - index >= 4,
      let value = UInt32(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16),
      bytes[index] != UInt8(ascii: "+"), bytes[index] != UInt8(ascii: "-")
    else { throw failure("four hexadecimal digits are expected") }
    index += 4
    return value
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  private mutating func skipSpace() {
    while index < bytes.count, case let byte = bytes[index],
      byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    {
      index += 1
    }
  }
}
