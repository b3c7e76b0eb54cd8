/// The usual value of a day: the median of the preceding days, and the band that contains the middle half of them.
///
/// ```swift
/// let days = Dictionary(uniqueKeysWithValues: (0..<28).map { (19_860 + $0, 60.0 + Double($0 % 3)) })
/// if let baseline = Baseline(of: 19_888, in: days) {
///   print(baseline.median, baseline.days, baseline.isUnusual(75))  // 61.0 28 true
/// }
/// ```
public struct Baseline: Hashable, Sendable {
  /// The number of preceding days that are considered.
  public static let window = 28
  /// The minimum number of days with a value for a baseline.
  public static let fewestDays = 14
  /// The distance from the band at which a value is unusual, as a multiple of the band's width.
  private static let reach = 1.5

  public var median: Double
  /// The interquartile range.
  public var band: ClosedRange<Double>
  /// The number of days with a value.
  public var days: Int

  /// Creates the baseline of a day, or returns `nil` if fewer than ``fewestDays`` of the ``window`` preceding days
  /// have a value.
  ///
  /// - Parameters:
  ///   - day: days since 1970-01-01; its own value does not count.
  ///   - values: values by day. Days without a value are absent, not 0.
  public init?(of day: Int, in values: [Int: Double]) {
    let found = (day - Self.window..<day).compactMap { values[$0] }.filter(\.isFinite)
    guard found.count >= Self.fewestDays, let quartiles = Quartiles(found) else { return nil }
    (median, band, days) = (quartiles.median, quartiles.band, found.count)
  }

  /// Returns whether a value is further from the band than 1.5 times its width (Tukey's fences).
  public func isUnusual(_ value: Double) -> Bool {
    let reach = Self.reach * (band.upperBound - band.lowerBound)
    return value < band.lowerBound - reach || value > band.upperBound + reach
  }
}
