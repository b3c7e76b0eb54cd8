/// A double as a whole number divided by a power of ten, where that says it exactly: the form in which most values were
/// written down once, and a third of the bytes.
struct DecimalNumber: Equatable {
  var digits: Int64
  /// The exponent of the divisor, a power of ten; 0 to 15.
  var power: UInt8

  private static let powers: [Double] = (0...15).reduce(into: []) { powers, _ in
    powers.append((powers.last ?? 0.1) * 10)
  }
  private static let maximumDigits = 9_007_199_254_740_992.0  // 2^53: every whole number below is a double.

  init(digits: Int64, power: UInt8) {
    self.digits = digits
    self.power = power
  }

  /// `nil` for what needs more digits, and for -0, infinities and NaN.
  init?(_ value: Double) {
    guard value.magnitude < Self.maximumDigits, value != 0 || value.sign == .plus else { return nil }
    for (power, factor) in Self.powers.enumerated() {
      let digits = (value * factor).rounded()
      guard digits.magnitude < Self.maximumDigits else { return nil }
      if digits / factor == value {
        self.init(digits: Int64(digits), power: UInt8(power))
        return
      }
    }
    return nil
  }

  /// `nil` for a power out of range.
  var value: Double? {
    power < Self.powers.count ? Double(digits) / Self.powers[Int(power)] : nil
  }
}
