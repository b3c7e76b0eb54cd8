/// The values of `form` in `changes.proto` beside the powers of ten.
enum SampleForm {
  static let binary: UInt8 = 16
  static let none: UInt8 = 17
  static let json: UInt8 = 18
  /// The flag for a sample with a creation date.
  static let created: UInt8 = 0x20
}

/// The unit of time of one batch: the longest of three that divides all its instants and durations.
struct Tick {
  /// The length of a tick in microseconds.
  private(set) var length: Int64 = 1_000_000

  mutating func divide(_ microseconds: Int64) {
    while length > 1, !microseconds.isMultiple(of: length) { length /= 1_000 }
  }

  init() {}

  /// `nil` for a number that is none of the three.
  init?(length: UInt32) {
    guard [1, 1_000, 1_000_000].contains(length) else { return nil }
    self.length = Int64(length)
  }
}

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
