/// A comparison of two periods by their daily means, because the periods may differ in their numbers of days.
///
/// ```swift
/// let weeks = PeriodComparison([7000, 8000, 9000], before: [6000, 6000])
/// print(weeks.difference ?? 0, weeks.now.days, weeks.before.days)  // 2000.0 3 2
/// ```
public struct PeriodComparison: Hashable, Sendable {
  /// The values of a period.
  public struct Period: Hashable, Sendable {
    public var days: Int
    /// The sum over all days.
    public var sum: Double
    /// The daily mean, or `nil` if no day has a value.
    public var mean: Double? { days == 0 ? nil : sum / Double(days) }

    init(_ values: [Double]) {
      let known = values.filter(\.isFinite)
      (days, sum) = (known.count, known.reduce(0, +))
    }
  }

  public var now: Period
  public var before: Period

  /// Creates a comparison.
  ///
  /// - Parameters:
  ///   - values: the values of the days of the current period, without incomplete days and days without a value.
  ///   - before: the values of the other period likewise.
  public init(_ values: [Double], before: [Double]) {
    self.now = Period(values)
    self.before = Period(before)
  }

  /// The difference of the daily means, or `nil` if a mean is missing.
  public var difference: Double? {
    guard let now = now.mean, let before = before.mean else { return nil }
    return now - before
  }

  /// The difference as a share of the earlier mean, or `nil` if that is 0.
  public var share: Double? {
    guard let difference, let mean = before.mean, mean != 0 else { return nil }
    return difference / abs(mean)
  }
}
