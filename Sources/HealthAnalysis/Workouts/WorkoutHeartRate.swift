import HealthModel

/// The heart rate during a workout, in beats per minute.
public struct WorkoutHeartRate: Hashable, Sendable {
  /// The mean over the active intervals, weighted by time.
  public var mean: Double
  public var minimum: Double?
  public var maximum: Double?

  init(mean: Double, minimum: Double? = nil, maximum: Double? = nil) {
    (self.mean, self.minimum, self.maximum) = (mean, minimum, maximum)
  }

  /// Creates the heart rate from the statistics of a workout or a leg, or returns `nil` if they have none.
  init?(_ statistics: [WorkoutStatistics]) {
    guard let own = statistics.first(where: { $0.type == WorkoutQuery.heartRate && $0.average != nil }),
      let unit = own.unit,
      let mean = Self.rate(own.average, unit)
    else { return nil }
    self.init(mean: mean, minimum: Self.rate(own.minimum, unit), maximum: Self.rate(own.maximum, unit))
  }

  private static func rate(_ number: Double?, _ unit: String) -> Double? {
    number.flatMap { UnitConversion.convert($0, from: unit, to: "count/min") }.flatMap {
      $0 > 0 && $0.isFinite ? $0 : nil
    }
  }

  /// Creates the heart rate from readings, or returns `nil` if none overlaps an active interval.
  init?(_ readings: [ActiveIntervals.Reading], during active: ActiveIntervals) {
    let values = active.overlapping(readings).map(\.value)
    guard let minimum = values.min(), let maximum = values.max() else { return nil }
    let stretches = active.stretches(of: readings)
    let seconds = stretches.reduce(0) { $0 + $1.seconds }
    let mean =
      seconds > 0
      ? stretches.reduce(0) { $0 + $1.value * $1.seconds } / seconds : values.reduce(0, +) / Double(values.count)
    self.init(mean: mean, minimum: minimum, maximum: maximum)
  }
}
