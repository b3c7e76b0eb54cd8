import Foundation

/// Reads decimal numbers as exactly as `strtod`, with a fast path for the short numbers in exports.
enum DecimalReader {
  struct Reading: Equatable {
    var value: Double
    /// Whether the decimal separator was a comma.
    var hasComma = false
  }

  /// Reads `[+-]digits[.digits][e[+-]digits]`, with `.` or `,`. Returns `nil` for other texts and infinite numbers.
  static func read(_ bytes: Bytes) -> Reading? {
    var index = 0
    let isNegative = bytes.count > 0 && bytes[0] == 0x2D
    if isNegative || bytes.count > 0 && bytes[0] == 0x2B { index = 1 }
    var mantissa: UInt64 = 0
    var digits = 0
    var significant = 0
    var exponent = 0
    var hasComma = false
    var hasPoint = false
    while index < bytes.count {
      let byte = bytes[index]
      if byte &- 48 < 10 {
        digits += 1
        if significant < 19 {
          mantissa = mantissa * 10 + UInt64(byte &- 48)
          if mantissa > 0 { significant += 1 }
          if hasPoint { exponent -= 1 }
        } else {
          // The mantissa is full, and only the slow path is exact.
          significant = 20
        }
      } else if byte == 0x2E || byte == 0x2C, !hasPoint {
        hasPoint = true
        hasComma = byte == 0x2C
      } else {
        break
      }
      index += 1
    }
    guard digits > 0 else { return nil }
    if index < bytes.count {
      guard bytes[index] | 0x20 == 0x65, let power = integer(bytes.dropFirst(index + 1)) else { return nil }
      exponent += power
    }
    if significant <= 15, abs(exponent) <= 22 {
      // Both operands are exact and IEEE 754 rounds the one operation correctly.
      let magnitude = exponent < 0 ? Double(mantissa) / powers[-exponent] : Double(mantissa) * powers[exponent]
      return Reading(value: isNegative ? -magnitude : magnitude, hasComma: hasComma)
    }
    let buffer = bytes.buffer
    let text = String(decoding: buffer.map { $0 == 0x2C ? 0x2E : $0 }, as: UTF8.self)
    guard let value = Double(text), value.isFinite else { return nil }
    return Reading(value: value, hasComma: hasComma)
  }

  static func read(_ text: String) -> Reading? { text.withBytes { read($0) } }

  /// Returns a signed integer of at most four digits. Larger exponents exceed any double.
  private static func integer(_ bytes: Bytes) -> Int? {
    guard bytes.count > 0 else { return nil }
    let hasSign = bytes[0] == 0x2D || bytes[0] == 0x2B
    let digits = hasSign ? bytes.dropFirst(1) : bytes
    guard digits.count > 0, digits.count <= 4 else { return nil }
    var value = 0
    for index in 0..<digits.count {
      guard digits[index] &- 48 < 10 else { return nil }
      value = value * 10 + Int(digits[index] &- 48)
    }
    return bytes[0] == 0x2D ? -value : value
  }

  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]
}
