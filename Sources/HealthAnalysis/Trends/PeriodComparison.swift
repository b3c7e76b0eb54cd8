/// Two periods beside each other: by the means of their days, as they may have different numbers of them.
///
/// ```swift
/// let weeks = PeriodComparison([7000, 8000, 9000], before: [6000, 6000])
/// print(weeks.difference ?? 0, weeks.now.days, weeks.before.days)  // 2000.0 3 2
/// ```
public struct PeriodComparison: Hashable, Sendable {
  /// The days of one period that have a value.
  public struct Period: Hashable, Sendable {
    public var days: Int
    /// Of all days together.
    public var sum: Double
    /// `nil` where no day has a value.
    public var mean: Double? { days == 0 ? nil : sum / Double(days) }

    init(_ values: [Double]) {
      let known = values.filter(\.isFinite)
      (days, sum) = (known.count, known.reduce(0, +))
    }
  }

  public var now: Period
  public var before: Period

  /// - Parameters:
  ///   - values: of the days of one period, without those that have none, nor the one that is not over.
  ///   - before: likewise of the other.
  public init(_ values: [Double], before: [Double]) {
    self.now = Period(values)
    self.before = Period(before)
  }

  /// Of the daily means; `nil` where one is missing.
  public var difference: Double? {
    guard let now = now.mean, let before = before.mean else { return nil }
    return now - before
  }

  /// ``difference`` as a share of the mean before; `nil` where that is 0.
  public var share: Double? {
    guard let difference, let mean = before.mean, mean != 0 else { return nil }
    return difference / abs(mean)
  }
}
