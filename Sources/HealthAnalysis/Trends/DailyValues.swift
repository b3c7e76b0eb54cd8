import HealthModel

extension BucketStatistics.Number {
  /// The one number by which days are compared: the sum of a cumulative type, the mean of a discrete one.
  public var representative: Double {
    switch self {
    case .sum(let sum): sum.sum
    case .discrete(let values): values.mean ?? values.meanOfSamples
    }
  }
}

extension Statistics {
  /// What each day has, by days since 1970-01-01; of statistics by day.
  ///
  /// - Parameter includesPartial: whether a day counts that is not over, or was cut.
  public func dailyValues(in zone: ZoneRules, includesPartial: Bool = false) -> [Int: Double] {
    var days: [Int: Double] = [:]
    for value in values where includesPartial || !value.isPartial {
      days[zone.dayNumber(at: value.bucket.start.seconds)] = value.number.representative
    }
    return days
  }
}
