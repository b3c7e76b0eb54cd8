import HealthModel
import HealthStore

/// Sums of a cumulative type over the times of workouts. The workout's own source ranks before all others.
struct WorkoutSums {
  /// A period for which a sum is requested.
  struct Question {
    /// The period in microseconds.
    var time: Range<Int64>
    /// The source of the workout.
    var source: Source
  }

  static let activeEnergy = SampleType("HKQuantityTypeIdentifierActiveEnergyBurned")

  /// Returns the distance type of an activity, or `nil` if the activity covers no distance.
  static func distance(of activity: WorkoutActivityType) -> SampleType? {
    guard let name = distances[activity.exported.replacing("HKWorkoutActivityType", with: "")] else { return nil }
    return distance(named: name)
  }

  private static func distance(named name: String) -> SampleType {
    SampleType("HKQuantityTypeIdentifierDistance" + name)
  }

  private static let distances: [String: String] = [
    "Walking": "WalkingRunning", "Running": "WalkingRunning", "Hiking": "WalkingRunning",
    "TrackAndField": "WalkingRunning", "Cycling": "Cycling", "HandCycling": "Cycling", "Swimming": "Swimming",
    "WheelchairWalkPace": "Wheelchair", "WheelchairRunPace": "Wheelchair", "DownhillSkiing": "DownhillSnowSports",
    "Snowboarding": "DownhillSnowSports", "SnowSports": "DownhillSnowSports",
    "CrossCountrySkiing": "CrossCountrySkiing", "PaddleSports": "PaddleSports", "Rowing": "Rowing",
    "SkatingSports": "SkatingSports",
  ]

  /// The types for which sums are requested.
  static let types = [activeEnergy] + Set(distances.values).sorted().map(distance(named:))

  /// Returns the sums in a single pass over the samples, regardless of the number of workouts.
  ///
  /// - Parameters:
  ///   - unit: the unit of the sums.
  ///   - questions: in order of their starts.
  /// - Returns: a sum for each question, or `nil` if no sample overlaps its period.
  static func sums(
    of type: SampleType, in unit: String, over questions: [Question], _ reader: NumberReader, _ facts: KeptFacts
  ) throws -> [Double?] {
    var sums: [Double?] = Array(repeating: nil, count: questions.count)
    guard let first = questions.first else { return sums }
    // For each index, the latest end of the questions up to it.
    var ends: [Int64] = []
    for question in questions { ends.append(max(ends.last ?? .min, question.time.upperBound)) }
    let starts = questions.map(\.time.lowerBound)
    let ranking = try facts.ranking(of: type, reader)
    let owns = questions.map { ranking.knownRank(of: $0.source) }
    var sweeps: [Int: SumSweep] = [:]
    var numbers = ConvertedNumbers(unit: unit)
    try reader.forEach(
      type, overlapping: first.time.lowerBound..<(ends.last ?? .min), noLongerThan: facts.longest(of: type)
    ) { sample in
      guard let value = numbers.value(of: sample, reader) else { return }
      let rank = ranking.rank(of: sample.source, isUserEntered: sample.isUserEntered)
      let last = sample.end > sample.start ? sample.end - 1 : sample.start
      guard last >= starts[0] else { return }
      var index = starts.lastIndex(notAfter: last)
      while index >= 0, ends[index] > sample.start {
        if questions[index].time.upperBound > sample.start {
          sweeps[
            index,
            default: SumSweep(
              edges: [questions[index].time.lowerBound, questions[index].time.upperBound], ranks: ranking.sources.count)
          ].add(
            start: sample.start, end: sample.end, value: value, rank: Self.rank(rank, own: owns[index]),
            unit: sample.unit)
        }
        index -= 1
      }
    }
    for index in Array(sweeps.keys) { sums[index] = sweeps[index]?.finish().first?.sum.value }
    return sums
  }

  /// Returns the rank after moving the workout's own source to the front.
  private static func rank(_ rank: Int, own: Int?) -> Int {
    guard let own, rank <= own else { return rank }
    return rank == own ? 0 : rank + 1
  }
}

extension WorkoutSummary {
  /// Returns the workouts with missing distances and energies filled in from samples.
  ///
  /// - Parameter workouts: in order of their starts.
  static func filled(
    _ workouts: [WorkoutSummary], _ reader: NumberReader, _ facts: KeptFacts
  ) throws -> [WorkoutSummary] {
    var workouts = workouts
    func fill(
      _ indices: [Int], _ type: SampleType, _ unit: String, _ path: WritableKeyPath<WorkoutSummary, Double?>,
      _ mark: WritableKeyPath<WorkoutSummary, Bool>
    ) throws {
      // Samples during pauses do not belong to the workout.
      let parts = indices.flatMap { index in
        let workout = workouts[index]
        return ActiveIntervals(workout.workout, of: workout.sample).intervals.map { time in
          (index: index, question: WorkoutSums.Question(time: time, source: workout.sample.source))
        }
      }.sorted { $0.question.time.lowerBound < $1.question.time.lowerBound }
      let sums = try WorkoutSums.sums(of: type, in: unit, over: parts.map(\.question), reader, facts)
      for (part, sum) in zip(parts, sums) {
        guard let sum else { continue }
        workouts[part.index][keyPath: path] = (workouts[part.index][keyPath: path] ?? 0) + sum
        workouts[part.index][keyPath: mark] = true
      }
    }
    let open = workouts.indices.filter { index in
      let sample = workouts[index].sample
      // A sender may have stated any times.
      return sample.start < sample.end && CalendarBuckets.years.contains(sample.start)
        && CalendarBuckets.years.contains(sample.end)
    }
    let energies = open.filter { workouts[$0].energy == nil }
    try fill(energies, WorkoutSums.activeEnergy, "kcal", \.energy, \.hasMergedEnergy)
    let distances = Dictionary(grouping: open.filter { workouts[$0].distance == nil }) {
      WorkoutSums.distance(of: workouts[$0].workout.activityType)
    }
    for (type, indices) in distances {
      if let type { try fill(indices, type, "m", \.distance, \.hasMergedDistance) }
    }
    return workouts
  }
}
