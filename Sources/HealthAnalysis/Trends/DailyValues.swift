import HealthModel

extension BucketStatistics.Number {
  /// The number by which days are compared: the sum of a cumulative type, the mean of a discrete one.
  public var representative: Double {
    switch self {
    case .sum(let sum): sum.sum
    case .discrete(let values): values.mean ?? values.meanOfSamples
    }
  }
}

extension Statistics {
  /// Returns the value of each day by days since 1970-01-01. The statistics must be by day.
  ///
  /// - Parameter includesPartial: whether to include days that are not over or were cut.
  public func dailyValues(in zone: ZoneRules, includesPartial: Bool = false) -> [Int: Double] {
    var days: [Int: Double] = [:]
    for value in values where includesPartial || !value.isPartial {
      days[zone.dayNumber(at: value.bucket.start.seconds)] = value.number.representative
    }
    return days
  }
}
