import HealthModel
import HealthStore

/// What one type says of a workout, beside its distance, its energy and its heart rate.
public struct WorkoutMeasure: Hashable, Sendable {
  /// The quantity type.
  public var type: SampleType
  /// Of all four numbers; empty where nothing says it.
  public var unit: String
  /// Of a cumulative type.
  public var sum: Double?
  /// Of a discrete type, like the other two.
  public var mean: Double?
  public var minimum: Double?
  public var maximum: Double?

  /// What is looked for in samples where the workout has no statistics of it.
  static let usual = [
    "RunningPower", "CyclingPower", "CyclingCadence", "RunningSpeed", "CyclingSpeed", "RunningStrideLength",
    "RunningVerticalOscillation", "RunningGroundContactTime", "SwimmingStrokeCount", "FlightsClimbed", "StepCount",
  ].map { SampleType("HKQuantityTypeIdentifier" + $0) }

  /// In order of their names.
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
    // Whoever sent the workout may have said anything.
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

  /// Whoever sent the workout may have said anything.
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

/// How hard a workout was, from 1 to 10.
public struct WorkoutEffort: Hashable, Sendable {
  public var score: Double
  /// Whether a watch has estimated it, and nobody said it.
  public var isEstimated: Bool

  /// What a person says, and what a watch estimates.
  static let types = ["WorkoutEffortScore", "EstimatedWorkoutEffortScore"].map {
    SampleType("HKQuantityTypeIdentifier" + $0)
  }

  /// The one that a person said comes first.
  ///
  /// - Parameter range: of the workout, in microseconds since 1970.
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
