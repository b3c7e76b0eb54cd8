import HealthModel
import TestSupport

/// The random inputs for a sample's content.
struct Draw: Sendable {
  /// A level from 0 to 1, close to that of the sample before.
  let level: Double
  /// The duration of the sample, in seconds.
  let length: Double
  /// Whether the sample came from HealthKit itself, with full doubles, rather than through Apple's export.
  let isLive: Bool
  /// Whether measured numbers keep all their digits, as in HealthKit, even if they are to be printed.
  var isExact = false
  var random: SeededGenerator

  /// Returns a whole number near the level.
  mutating func whole(_ range: ClosedRange<Double>) -> Double {
    value(range).rounded()
  }

  /// Returns a measured number near the level: a full double from HealthKit, or six significant digits (C's `%g`) in
  /// an export.
  mutating func measured(_ range: ClosedRange<Double>) -> Double {
    let value = value(range)
    return isLive || isExact ? value : SixDigits.rounded(value)
  }

  /// Returns a number near the level with a fixed number of decimals.
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

/// Rounding of numbers as in Apple's export.
enum SixDigits {
  private static let powers: [Double] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]

  /// Rounds to six significant digits. The result is exact: a whole number divided by a power of ten is the double
  /// nearest to the decimal.
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
