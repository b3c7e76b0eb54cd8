import Foundation

/// JSON output appended to bytes, in the form of ``CanonicalJSON``.
extension [UInt8] {
  package mutating func append(_ text: StaticString) {
    append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a JSON string.
  ///
  /// - Parameter shortly: whether control characters with a short escape, such as `\n`, are written that way.
  package mutating func append(quoted text: String, shortly: Bool = true) {
    append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { utf8 in
      if utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
        for byte in utf8 { append(escaping: byte, shortly: shortly) }
      } else {
        append(contentsOf: utf8)
      }
    }
    append(UInt8(ascii: "\""))
  }

  private mutating func append(escaping byte: UInt8, shortly: Bool) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"")
    case UInt8(ascii: "\\"): append("\\\\")
    case 0x08 where shortly: append("\\b")
    case 0x09 where shortly: append("\\t")
    case 0x0A where shortly: append("\\n")
    case 0x0C where shortly: append("\\f")
    case 0x0D where shortly: append("\\r")
    case 0..<0x20:
      append("\\u00")
      for digit in [byte >> 4, byte & 15] { append(digit < 10 ? 0x30 + digit : 0x57 + digit) }
    default: append(byte)
    }
  }

  /// Appends a number, or `"nan"`, `"inf"` or `"-inf"` for values that JSON numbers cannot represent.
  package mutating func append(number value: Double) {
    if value.appendWhole(to: &self) { return }
    guard value.isFinite else {
      return append(value.isNaN ? "\"nan\"" : value < 0 ? "\"-inf\"" : "\"inf\"")
    }
    var digits = value.description
    digits.withUTF8 { utf8 in
      // Match JSONEncoder, which writes whole numbers without `.0`.
      let isWhole = utf8.count > 2 && utf8[utf8.count - 1] == 0x30 && utf8[utf8.count - 2] == 0x2E
      append(contentsOf: isWhole ? UnsafeBufferPointer(rebasing: utf8.dropLast(2)) : utf8)
    }
  }
}

extension Double {
  /// Appends the digits of a whole number below 1e15, a fast path for the most common values.
  ///
  /// - Returns: false for any other number, including -0, for which nothing is written.
  public func appendWhole(to bytes: inout [UInt8]) -> Bool {
    guard magnitude < 1e15, let whole = Int64(exactly: self), whole != 0 || sign == .plus else { return false }
    whole.append(to: &bytes)
    return true
  }
}

extension Int64 {
  /// Appends the decimal digits.
  public func append(to bytes: inout [UInt8]) {
    if self < 0 { bytes.append(UInt8(ascii: "-")) }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var first = digits.count
      var rest = magnitude
      repeat {
        first -= 1
        digits[first] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[first...]))
    }
  }
}

extension UUID {
  /// Appends `uuidString` without creating a `String`.
  public func append(to bytes: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { text in
      withUnsafeBytes(of: uuid) { parts in
        var next = 0
        for (index, part) in parts.enumerated() {
          if index == 4 || index == 6 || index == 8 || index == 10 {
            text[next] = UInt8(ascii: "-")
            next += 1
          }
          text[next] = Self.digit(part >> 4)
          text[next + 1] = Self.digit(part & 15)
          next += 2
        }
      }
      bytes.append(contentsOf: UnsafeBufferPointer(text))
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
