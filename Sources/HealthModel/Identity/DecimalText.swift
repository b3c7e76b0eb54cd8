import Foundation

/// Locale-independent decimal formatting.
enum DecimalText {
  /// Returns `value` in scientific notation with `digits` significant digits: `1.2346E+03`. Rounds the shortest
  /// decimal text of the value, half to even, as ICU does; printf(3) rounds the exact value instead.
  static func rounded(_ value: Double, digits: Int) -> String {
    guard value.isFinite else { return formatted(value, digits: digits) }
    var (significant, exponent) = shortest(value)
    if significant.count > digits, round(&significant, to: digits) { exponent += 1 }
    significant += repeatElement(0, count: max(0, digits - significant.count))
    var text: [UInt8] = value.sign == .minus ? [UInt8(ascii: "-")] : []
    for (index, digit) in significant.enumerated() {
      if index == 1 { text.append(UInt8(ascii: ".")) }
      text.append(UInt8(ascii: "0") + digit)
    }
    text.append(UInt8(ascii: "E"))
    text.append(UInt8(ascii: exponent < 0 ? "-" : "+"))
    if abs(exponent) < 10 { text.append(UInt8(ascii: "0")) }
    text += "\(abs(exponent))".utf8
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the same text, formatted by ICU. About a hundred times slower.
  static func formatted(_ value: Double, digits: Int) -> String {
    String(format: "%.\(digits - 1)e", locale: Locale(identifier: "en_US_POSIX"), value)
  }

  /// Returns the shortest decimal digits that identify a value, without leading zeros, and the power of ten of the
  /// first digit. Returns the single digit 0 for zero.
  private static func shortest(_ value: Double) -> (digits: [UInt8], exponent: Int) {
    // 0.00012, 1234.5, 1.2e-07
    let parts = value.magnitude.description.utf8.split(separator: UInt8(ascii: "e"))
    var digits: [UInt8] = []
    var exponent = parts.count > 1 ? Int(Substring(parts[1])) ?? 0 : 0
    var isWhole = true
    for byte in parts[0] {
      if byte == UInt8(ascii: ".") {
        isWhole = false
        continue
      }
      let digit = byte - UInt8(ascii: "0")
      if !digits.isEmpty || digit != 0 { digits.append(digit) }
      exponent += isWhole ? digits.isEmpty ? 0 : 1 : digits.isEmpty ? -1 : 0
    }
    return digits.isEmpty ? ([0], 0) : (digits, exponent - 1)
  }

  /// Rounds the digits to `count` places.
  ///
  /// - Returns: whether rounding added a digit before the point: 9.99 became 10.0.
  private static func round(_ digits: inout [UInt8], to count: Int) -> Bool {
    let rest = digits[count...]
    digits.removeLast(rest.count)
    let (first, isExact) = (rest[count], rest.dropFirst().allSatisfy { $0 == 0 })
    let isOdd = digits.last.map { $0 % 2 == 1 } ?? false
    guard first > 5 || first == 5 && (!isExact || isOdd) else { return false }
    for index in digits.indices.reversed() {
      if digits[index] < 9 {
        digits[index] += 1
        return false
      }
      digits[index] = 0
    }
    digits[0] = 1
    return true
  }
}
