/// The values of `form` in `changes.proto` other than powers of ten.
enum SampleForm {
  static let binary: UInt8 = 16
  static let none: UInt8 = 17
  static let json: UInt8 = 18
  /// The flag for a sample with a creation date.
  static let created: UInt8 = 0x20
}

/// The time unit of one batch: the longest of a second, a millisecond and a microsecond that divides all its instants
/// and durations.
struct Tick {
  /// The length of a tick in microseconds.
  private(set) var length: Int64 = 1_000_000

  mutating func divide(_ microseconds: Int64) {
    while length > 1, !microseconds.isMultiple(of: length) { length /= 1_000 }
  }

  init() {}

  /// Creates a tick, or returns `nil` unless the length is 1, 1,000 or 1,000,000 microseconds.
  init?(length: UInt32) {
    guard [1, 1_000, 1_000_000].contains(length) else { return nil }
    self.length = Int64(length)
  }
}

/// A double that equals a whole number divided by a power of ten. Most values were first written in decimal, and this
/// form takes a third of the bytes.
struct DecimalNumber: Equatable {
  var digits: Int64
  /// The exponent of the power of ten that divides ``digits``, from 0 to 15.
  var power: UInt8

  private static let powers: [Double] = (0...15).reduce(into: []) { powers, _ in
    powers.append((powers.last ?? 0.1) * 10)
  }
  private static let maximumDigits = 9_007_199_254_740_992.0  // 2^53: every whole number below is a double.

  init(digits: Int64, power: UInt8) {
    self.digits = digits
    self.power = power
  }

  /// Creates the exact decimal form of a double, or returns `nil` if it needs more digits or is -0, infinite or NaN.
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

  /// The double, or `nil` if the power is out of range.
  var value: Double? {
    power < Self.powers.count ? Double(digits) / Self.powers[Int(power)] : nil
  }
}
