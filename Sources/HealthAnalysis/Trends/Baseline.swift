/// What is usual on a day: the median of the days before it, and the band in which half of them lay.
///
/// ```swift
/// let days = Dictionary(uniqueKeysWithValues: (0..<28).map { (19_860 + $0, 60.0 + Double($0 % 3)) })
/// if let baseline = Baseline(of: 19_888, in: days) {
///   print(baseline.median, baseline.days, baseline.isUnusual(75))  // 61.0 28 true
/// }
/// ```
public struct Baseline: Hashable, Sendable {
  /// How many days before a day are looked at.
  public static let window = 28
  /// Of fewer days with a value nothing is said.
  public static let fewestDays = 14
  /// How many times the width of the band a value may lie beyond it.
  private static let reach = 1.5

  public var median: Double
  /// The interquartile range.
  public var band: ClosedRange<Double>
  /// How many days have a value.
  public var days: Int

  /// `nil` where fewer than ``fewestDays`` of the ``window`` days before have a value.
  ///
  /// - Parameters:
  ///   - day: days since 1970-01-01; its own value does not count.
  ///   - values: by day; a day without one is absent, which is not 0.
  public init?(of day: Int, in values: [Int: Double]) {
    let found = (day - Self.window..<day).compactMap { values[$0] }.filter(\.isFinite)
    guard found.count >= Self.fewestDays, let quartiles = Quartiles(found) else { return nil }
    (median, band, days) = (quartiles.median, quartiles.band, found.count)
  }

  /// Whether a value lies further from the band than 1.5 times its width (Tukey's fences).
  public func isUnusual(_ value: Double) -> Bool {
    let reach = Self.reach * (band.upperBound - band.lowerBound)
    return value < band.lowerBound - reach || value > band.upperBound + reach
  }
}
