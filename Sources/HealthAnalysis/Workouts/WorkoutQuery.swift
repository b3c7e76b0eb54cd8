import HealthModel
import HealthStore

/// A workout and its main values.
public struct WorkoutSummary: Hashable, Sendable {
  /// The sample, whose payload is a workout.
  public var sample: Sample
  public var workout: Workout
  /// The duration without pauses, in seconds: as the workout states it, else the sum of its active intervals; `nil` where the
  /// stated one is implausible: negative, not a number, or longer than the workout.
  public var duration: Double?
  /// The distance in metres, or `nil` if unknown.
  public var distance: Double?
  /// The active energy in kilocalories, or `nil` if unknown.
  public var energy: Double?
  /// Whether ``distance`` was summed from samples because the workout does not state it.
  public var hasMergedDistance = false
  /// Whether ``energy`` was summed from samples because the workout does not state it.
  public var hasMergedEnergy = false
  /// Whether the workout counts in sums. It does not if it duplicates a workout of a higher-ranked source; it is
  /// still listed.
  public var isCounted = true

  /// The seconds from its start to its end, including pauses.
  public var elapsed: Double { Double(sample.end.microseconds &- sample.start.microseconds) / 1_000_000 }

  /// The tolerance for a stated duration longer than the workout, in seconds and as a share: clocks are rounded.
  private static let slack = (seconds: 60.0, share: 0.05)
  /// The maximum duration in seconds of a workout without an end.
  private static let longest = 7 * 86_400.0

  /// Creates the summary from the workout's own statements, or returns `nil` for a sample that is not a workout.
  public init?(_ sample: Sample) {
    guard case .workout(let workout) = sample.payload else { return nil }
    (self.sample, self.workout) = (sample, workout)
    distance =
      Self.distance(workout.statistics, by: workout.activityType) ?? Self.total("totalDistance", workout, in: "m")
    energy = Self.energy(workout.statistics) ?? Self.total("totalEnergyBurned", workout, in: "kcal")
    if distance == nil || energy == nil {
      let legs = WorkoutLeg.legs(of: self)
      // The sum of only some legs is not a total; samples of the whole time are better.
      let moving = legs.filter { $0.activity != .transition }
      distance = distance ?? (moving.allSatisfy { $0.distance != nil } ? moving.compactMap(\.distance).total : nil)
      energy = energy ?? (legs.allSatisfy { $0.energy != nil } ? legs.compactMap(\.energy).total : nil)
    }
    duration = workout.duration ?? ActiveIntervals(workout, of: sample).seconds
    let most = elapsed > 0 ? elapsed + max(Self.slack.seconds, Self.slack.share * elapsed) : Self.longest
    if let said = duration, !(0...most).contains(said) { duration = nil }
  }

  /// Returns the distance in metres.
  static func distance(_ statistics: [WorkoutStatistics], by activity: WorkoutActivityType) -> Double? {
    let distances = statistics.filter { $0.type.rawValue.contains("Distance") }
    // A watch also counts steps during a bicycle ride, so use the distance type of the activity.
    let own = WorkoutSums.distance(of: activity).map { type in distances.filter { $0.type == type } } ?? []
    return sum(own.isEmpty ? distances : own, in: "m")
  }

  /// Returns the active energy in kilocalories.
  static func energy(_ statistics: [WorkoutStatistics]) -> Double? {
    sum(statistics.filter { $0.type == WorkoutSums.activeEnergy }, in: "kcal")
  }

  private static func sum(_ statistics: [WorkoutStatistics], in unit: String) -> Double? {
    let sums = statistics.compactMap { one -> Double? in
      guard let sum = one.sum, let own = one.unit else { return nil }
      return UnitConversion.convert(sum, from: own, to: unit)
    }
    return sums.isEmpty ? nil : plausible(sums.reduce(0, +))
  }

  private static func total(_ name: String, _ workout: Workout, in unit: String) -> Double? {
    workout.totals[name].flatMap { UnitConversion.convert($0.value, from: $0.unit, to: unit) }.flatMap(plausible)
  }

  /// Returns the number if it is in a plausible range, because a sender may have stated anything.
  private static func plausible(_ number: Double) -> Double? { (0..<1e12).contains(number) ? number : nil }
}

/// The details of a workout, including values from samples recorded during it.
public struct WorkoutDetails: Hashable, Sendable {
  public var summary: WorkoutSummary
  /// The heart rate that the workout states, or that of the samples during it; `nil` if unknown.
  public var heartRate: WorkoutHeartRate?
  /// The seconds in each heart rate zone without pauses, empty if there are no zones or no samples.
  public var zones: [Double]
  /// The track, or `nil` if there is no route.
  public var track: RouteTrack?
  /// The length of the route in metres, or `nil` if there is no route.
  public var routeDistance: Double?
  /// The ascent in metres, or `nil` if no route has elevations.
  public var ascent: Double?
  /// The seconds for each whole kilometre of the route.
  public var splits: [Double]
  /// The legs in order of their starts, empty if the workout has fewer than two.
  public var legs: [WorkoutLeg]
  /// The other measurements during the workout: power, cadence, running form, strokes.
  public var measures: [WorkoutMeasure]
  /// The effort from 1 to 10, or `nil` if unknown.
  public var effort: WorkoutEffort?
  /// The pauses, in microseconds since 1970.
  public var pauses: [Range<Int64>]
}

/// A query for workouts.
///
/// ```swift
/// func running(in store: HealthStore) async throws {
///   for workout in try await WorkoutQuery().run(on: store) where workout.isCounted {
///     print(workout.sample.start, workout.distance ?? 0, "m")
///   }
/// }
/// ```
public struct WorkoutQuery: Sendable {
  /// The range of starts, or `nil` for all.
  public var range: Range<Timestamp>?
  /// The names of sources, or `nil` for all.
  public var sources: Set<String>?
  /// Whether samples are read for workouts that do not state their distance or energy.
  public var readsSamples = true

  static let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
  private static let pageSize = 500
  /// The minimum overlap of duplicates with the same activity, as a share of the shorter workout, or of the longer
  /// one if both are from the same source.
  private static let sameShare = 0.8

  /// Creates a query for all workouts.
  public init() {}

  /// Returns the workouts in order of their starts.
  ///
  /// - Throws: ``StoreError``.
  public func run(on store: HealthStore) async throws -> [WorkoutSummary] { try await run(on: Rollups(of: store)) }

  /// Returns the workouts in order of their starts, reusing rollups across queries.
  ///
  /// - Throws: ``StoreError``.
  public func run(on rollups: Rollups) async throws -> [WorkoutSummary] {
    let store = rollups.store
    var workouts: [WorkoutSummary] = []
    // Workouts with an unknown payload are not listed.
    var offset = 0
    while true {
      let page = try await store.samples.page(
        of: .workout, in: range, from: sources, offset: offset, limit: Self.pageSize)
      offset += page.count
      workouts += page.compactMap(WorkoutSummary.init)
      if page.count < Self.pageSize { break }
    }
    let ordered = [WorkoutSummary](workouts.reversed())
    if ordered.isEmpty { return [] }
    let facts = try await rollups.facts(about: [.workout] + WorkoutSums.types)
    return try await store.samples.numbers { [readsSamples] reader in
      let marked = Self.marked(ordered, try facts.ranking(of: .workout, reader))
      return readsSamples ? try WorkoutSummary.filled(marked, reader, facts) : marked
    }
  }

  /// Returns the workout with missing values filled in from samples.
  ///
  /// - Throws: ``StoreError``.
  public static func filled(_ workout: WorkoutSummary, in store: HealthStore) async throws(StoreError) -> WorkoutSummary
  {
    let facts = try await Rollups(of: store).facts(about: WorkoutSums.types)
    return try await store.samples.numbers { try WorkoutSummary.filled([workout], $0, facts).first } ?? workout
  }

  /// Returns the workouts with duplicates marked as not counted.
  ///
  /// - Parameter workouts: in order of their starts.
  static func marked(_ workouts: [WorkoutSummary], _ ranking: SourceRanking) -> [WorkoutSummary] {
    var workouts = workouts
    // The workouts that may overlap the following ones.
    var open: [Int] = []
    for index in workouts.indices {
      open.removeAll { workouts[$0].sample.end <= workouts[index].sample.start }
      for other in open where workouts[other].isCounted && isSame(workouts[other], workouts[index]) {
        let ranks = [index, other].map { ranking.rank(of: workouts[$0].sample.source) }
        let isLower =
          ranks[0] == ranks[1] ? workouts[index].elapsed <= workouts[other].elapsed : ranks[0] > ranks[1]
        workouts[isLower ? index : other].isCounted = false
        if isLower { break }
      }
      open.append(index)
    }
    return workouts
  }

  private static func isSame(_ one: WorkoutSummary, _ other: WorkoutSummary) -> Bool {
    guard one.workout.activityType == other.workout.activityType else { return false }
    let start = max(one.sample.start.microseconds, other.sample.start.microseconds)
    let end = min(one.sample.end.microseconds, other.sample.end.microseconds)
    // Some apps save a workout twice, and others save parts in addition to the whole.
    let isOneSource = one.sample.source == other.sample.source
    let length = isOneSource ? max(one.elapsed, other.elapsed) : min(one.elapsed, other.elapsed)
    return length > 0 && Double(end &- start) / 1_000_000 >= sameShare * length
  }

  /// Returns the details of a workout.
  ///
  /// - Parameter zones: the heart rate zones, or `nil` for none.
  /// - Throws: ``StoreError``.
  public static func details(
    of summary: WorkoutSummary, zones: HeartRateZones?, in store: HealthStore
  ) async throws(StoreError) -> WorkoutDetails {
    let sample = summary.sample
    let range = sample.start.microseconds..<max(sample.end.microseconds, sample.start.microseconds &+ 1)
    let active = ActiveIntervals(summary.workout, of: sample)
    let parts = WorkoutLeg.legs(of: summary)
    let facts = try await Rollups(of: store).facts(
      about: WorkoutSums.types + WorkoutMeasure.usual + WorkoutEffort.types + [heartRate])
    let (readings, legs, measures, effort) = try await store.samples.numbers { reader in
      var readings: [ActiveIntervals.Reading] = []
      var numbers = ConvertedNumbers(unit: "count/min")
      try reader.forEach(
        heartRate, overlapping: LastingValues.reach(range), noLongerThan: facts.longest(of: heartRate)
      ) { reading in
        guard let value = numbers.value(of: reading, reader) else { return }
        readings.append((reading.start, reading.end, value))
      }
      return (
        readings, try WorkoutLeg.filled(parts.count > 1 ? parts : [], of: summary, readings, reader, facts),
        try WorkoutMeasure.measures(of: summary, during: active, reader, facts),
        try WorkoutEffort.effort(during: range, reader, facts)
      )
    }
    let measured = WorkoutHeartRate(readings, during: active)
    var rate = WorkoutHeartRate(summary.workout.statistics) ?? measured
    if rate?.minimum == nil { rate?.minimum = measured?.minimum }
    if rate?.maximum == nil { rate?.maximum = measured?.maximum }
    let points = try await points(of: sample, in: store)
    let track = RouteTrack(points)
    return WorkoutDetails(
      summary: summary, heartRate: rate,
      zones: measured == nil ? [] : zones?.durations(readings, in: active) ?? [],
      track: points.isEmpty ? nil : track, routeDistance: points.isEmpty ? nil : track.distance, ascent: track.ascent,
      splits: track.splits(every: 1000), legs: legs, measures: measures, effort: effort, pauses: active.pauses)
  }

  /// Returns the points of all parts of the workout's route in order. Times are relative to the start of the first
  /// part.
  private static func points(of workout: Sample, in store: HealthStore) async throws(StoreError) -> [RoutePoint] {
    // A route may begin a little before or after its workout.
    let day: Int64 = 86_400_000_000
    let (start, isTooEarly) = workout.start.microseconds.subtractingReportingOverflow(day)
    let (end, isTooLate) = max(workout.start, workout.end).microseconds.addingReportingOverflow(day)
    let range = Timestamp(microseconds: isTooEarly ? .min : start)..<Timestamp(microseconds: isTooLate ? .max : end)
    var points: [RoutePoint] = []
    var first: Timestamp?
    for reference in try await store.samples.routes(in: range) where reference.workout == workout.reference {
      guard let sample = try await store.samples.sample(reference.route), case .workoutRoute(let route) = sample.payload
      else { continue }
      let begin = first ?? sample.start
      first = begin
      let shift = Double(sample.start.microseconds &- begin.microseconds) / 1_000_000
      points += route.points.map { point in
        var point = point
        point.time = point.time.map { $0 + shift }
        return point
      }
    }
    return points
  }
}

extension DiscreteValues {
  init(_ found: DiscreteSweep.Found) {
    self.init(
      minimum: found.minimum, maximum: found.maximum, mean: found.mean, meanOfSamples: found.meanOfSamples,
      count: found.count, last: found.last)
  }
}
