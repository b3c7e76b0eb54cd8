import HealthModel
import HealthStore

/// The values of a quantity type during a workout, apart from distance, energy and heart rate.
public struct WorkoutMeasure: Hashable, Sendable {
  /// The quantity type.
  public var type: SampleType
  /// The unit of all four values, empty if unknown.
  public var unit: String
  /// The sum of a cumulative type.
  public var sum: Double?
  /// The mean of a discrete type.
  public var mean: Double?
  public var minimum: Double?
  public var maximum: Double?

  /// The types for which samples are read if the workout has no statistics.
  static let usual = [
    "RunningPower", "CyclingPower", "CyclingCadence", "RunningSpeed", "CyclingSpeed", "RunningStrideLength",
    "RunningVerticalOscillation", "RunningGroundContactTime", "SwimmingStrokeCount", "FlightsClimbed", "StepCount",
  ].map { SampleType("HKQuantityTypeIdentifier" + $0) }

  /// Returns the measures in order of their names.
  static func measures(
    of summary: WorkoutSummary, during active: ActiveIntervals, _ reader: NumberReader, _ facts: KeptFacts
  ) throws -> [WorkoutMeasure] {
    var measures: [SampleType: WorkoutMeasure] = [:]
    for one in summary.workout.statistics where !isShownElsewhere(one.type) {
      let measure = WorkoutMeasure(
        type: one.type, unit: one.unit ?? "", sum: one.sum, mean: one.average, minimum: one.minimum,
        maximum: one.maximum)
      if measure.isPlausible { measures[one.type] = measure }
    }
    // A sender may have stated any times.
    let (start, end) = (summary.sample.start, summary.sample.end)
    let isKnown = CalendarBuckets.years.contains(start) && CalendarBuckets.years.contains(end)
    for type in usual where measures[type] == nil && isKnown {
      if let measure = try measure(type, of: summary, during: active, reader, facts) { measures[type] = measure }
    }
    return measures.values.sorted { $0.type.shortName < $1.type.shortName }
  }

  private static func isShownElsewhere(_ type: SampleType) -> Bool {
    type == WorkoutQuery.heartRate || type == WorkoutSums.activeEnergy || type.rawValue.contains("Distance")
  }

  /// Whether the values are in a plausible range, because a sender may have stated anything.
  private var isPlausible: Bool {
    let numbers = [sum, mean, minimum, maximum].compactMap(\.self)
    return !numbers.isEmpty && numbers.allSatisfy { abs($0) < 1e12 }
  }

  private static func measure(
    _ type: SampleType, of summary: WorkoutSummary, during active: ActiveIntervals, _ reader: NumberReader,
    _ facts: KeptFacts
  ) throws -> WorkoutMeasure? {
    guard let entry = SampleTypeCatalogue.healthKit[type], let unit = entry.canonicalUnit,
      let first = active.intervals.first?.lowerBound, let last = active.intervals.last?.upperBound
    else { return nil }
    if entry.aggregation == .cumulative {
      let questions = active.intervals.map { WorkoutSums.Question(time: $0, source: summary.sample.source) }
      let sums = try WorkoutSums.sums(of: type, in: unit, over: questions, reader, facts)
      return sums.compactMap(\.self).total.map { WorkoutMeasure(type: type, unit: unit, sum: $0) }
    }
    var readings: [ActiveIntervals.Reading] = []
    var numbers = ConvertedNumbers(unit: unit, of: type)
    try reader.forEach(type, overlapping: first..<last, noLongerThan: facts.longest(of: type)) { sample in
      if let value = numbers.value(of: sample, reader) { readings.append((sample.start, sample.end, value)) }
    }
    let values = active.overlapping(readings).map(\.value)
    guard let minimum = values.min(), let maximum = values.max() else { return nil }
    return WorkoutMeasure(
      type: type, unit: unit, mean: values.reduce(0, +) / Double(values.count), minimum: minimum, maximum: maximum)
  }
}

/// The effort of a workout, from 1 to 10.
public struct WorkoutEffort: Hashable, Sendable {
  public var score: Double
  /// Whether the score is a watch's estimate rather than the person's rating.
  public var isEstimated: Bool

  /// The types of a person's rating and of a watch's estimate.
  static let types = ["WorkoutEffortScore", "EstimatedWorkoutEffortScore"].map {
    SampleType("HKQuantityTypeIdentifier" + $0)
  }

  /// Returns the effort. A person's rating takes precedence over an estimate.
  ///
  /// - Parameter range: the time of the workout, in microseconds since 1970.
  static func effort(
    during range: Range<Int64>, _ reader: NumberReader, _ facts: KeptFacts
  ) throws -> WorkoutEffort? {
    for (type, isEstimated) in zip(types, [false, true]) {
      var found: WorkoutEffort?
      try reader.forEach(type, overlapping: range, noLongerThan: facts.longest(of: type)) { sample in
        if (0...10).contains(sample.value) { found = WorkoutEffort(score: sample.value, isEstimated: isEstimated) }
      }
      if let found { return found }
    }
    return nil
  }
}
