import HealthModel
import TestSupport

/// What a sample's content is made from.
struct Draw: Sendable {
  /// From 0 to 1; close to the sample's before.
  let level: Double
  /// Of the sample, in seconds.
  let length: Double
  /// It came from HealthKit itself, with full doubles, and not through Apple's export.
  let isLive: Bool
  /// Measured numbers keep all their digits, as HealthKit holds them, also when they are to be printed.
  var isExact = false
  var random: SeededGenerator

  /// A whole number about the level.
  mutating func whole(_ range: ClosedRange<Double>) -> Double {
    value(range).rounded()
  }

  /// A measured number about the level: a full double from HealthKit, six significant digits (C's `%g`) in an export.
  mutating func measured(_ range: ClosedRange<Double>) -> Double {
    let value = value(range)
    return isLive || isExact ? value : SixDigits.rounded(value)
  }

  /// A number about the level that its source gives with so many decimals.
  mutating func decimal(_ range: ClosedRange<Double>, places: Int) -> Double {
    SixDigits.rounded(value(range), places: places)
  }

  mutating func isTrue(_ probability: Double) -> Bool {
    Double.random(in: 0..<1, using: &random) < probability
  }

  private mutating func value(_ range: ClosedRange<Double>) -> Double {
    let width = range.upperBound - range.lowerBound
    let about = level + Double.random(in: -0.05...0.05, using: &random)
    return range.lowerBound + width * min(1, max(0, about))
  }
}

/// Numbers as Apple's export prints them.
enum SixDigits {
  private static let powers: [Double] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]

  /// To six significant digits. Exact: a whole number divided by a power of ten is the double nearest to the decimal.
  static func rounded(_ value: Double) -> Double {
    let size = value.magnitude
    var places = 5
    var bound = 10.0
    while size >= bound, places > 0 {
      places -= 1
      bound *= 10
    }
    bound = 1
    while size < bound, places < 8 {
      places += 1
      bound /= 10
    }
    return rounded(value, places: places)
  }

  static func rounded(_ value: Double, places: Int) -> Double {
    (value * powers[places]).rounded() / powers[places]
  }
}
