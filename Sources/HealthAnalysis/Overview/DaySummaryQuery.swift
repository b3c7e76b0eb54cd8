import HealthModel
import HealthStore

/// A query for the summary of a day.
///
/// ```swift
/// func today(in store: HealthStore) async throws {
///   let zone = try ZoneRules(named: "Europe/Berlin")
///   let day = zone.dayNumber(at: Timestamp.now.seconds)
///   let summary = try await DaySummaryQuery(day: day, in: zone).run(on: store)
///   for entry in summary.types where entry.isUnusual { print(entry.type.shortName) }
/// }
/// ```
public struct DaySummaryQuery: Sendable {
  /// The day, in days since 1970-01-01.
  public var day: Int
  public var zone: ZoneRules
  /// The types whose values are included.
  public var types: [SampleType]
  /// The number of types up to which other types of the record are added to ``types``; 0 for none.
  public var leastTypes = 0
  /// The names of sources, or `nil` for all. Rings are always computed from all sources.
  public var sources: Set<String>?
  /// The app readings that count if there are no samples.
  public var readings = ReadingRule.all
  public var now: Timestamp

  /// The types that people usually look at first.
  public static let usualTypes = [
    "StepCount", "DistanceWalkingRunning", "ActiveEnergyBurned", "AppleExerciseTime", "RestingHeartRate",
    "HeartRateVariabilitySDNN", "BodyMass", "VO2Max", "OxygenSaturation", "RespiratoryRate",
  ].map { SampleType("HKQuantityTypeIdentifier" + $0) }

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - day: days since 1970-01-01.
  ///   - now: the current time; the day that contains it is partial.
  public init(
    day: Int, in zone: ZoneRules, types: [SampleType] = DaySummaryQuery.usualTypes, now: Timestamp = .now
  ) {
    (self.day, self.zone, self.types, self.now) = (day, zone, types, now)
  }

  /// Runs the query.
  ///
  /// - Throws: ``StatisticsError`` or ``StoreError``.
  public func run(on store: HealthStore) async throws -> DaySummary {
    let time = zone.day(day)
    let rollups = Rollups(of: store)
    let known = try await store.samples.numbers { [now] in try RecordEnd($0, now: now).ofDays() }
    var summary = DaySummary(
      day: day, isPartial: time.contains(now.seconds) || known.map { time.contains($0.seconds) } ?? false,
      knownUntil: known,
      rings: try await RingsQuery(days: day...day, in: zone).run(on: store, rollups).first, types: [], workouts: [])
    for type in types {
      if let entry = try await entry(type, rollups) { summary.types.append(entry) }
    }
    for type in try await others(summary.types, store) where summary.types.count < leastTypes {
      if let entry = try await entry(type, rollups) { summary.types.append(entry) }
    }
    var sleep = SleepQuery(in: zone)
    (sleep.firstDay, sleep.lastDay, sleep.sources) = (day - Baseline.window, day, sources)
    sleep.hasReadings = readings != .none
    let nights = Dictionary(try await sleep.run(on: rollups).map { ($0.day, $0) }, uniquingKeysWith: { $1 })
    summary.night = nights[day]
    summary.usualSleep = Baseline(of: day, in: nights.compactMapValues(\.main.asleep))
    let end = Timestamp(seconds: time.upperBound)
    summary.bloodPressure = try await BloodPressure.newest(before: end, sources, in: store)
    var workouts = WorkoutQuery()
    workouts.range = Timestamp(seconds: zone.start(ofDay: monday))..<end
    workouts.sources = sources
    if !(workouts.range?.isEmpty ?? true) {
      summary.workouts = try await workouts.run(on: rollups).filter(\.isCounted)
    }
    if summary.isEmpty { summary.newest = try await newest(before: end, store) }
    return summary
  }

  /// The other quantity types with samples in the compared weeks, in the order of the catalogue.
  private func others(_ found: [DaySummary.TypeSummary], _ store: HealthStore) async throws -> [SampleType] {
    guard found.count < leastTypes else { return [] }
    let range =
      Timestamp(
        seconds: zone.start(ofDay: min(monday, day) - Baseline.window))..<Timestamp(
        seconds: zone.start(ofDay: day + 1))
    let known = Set(try await store.samples.typeCounts().map(\.type))
    let held = known.union(AppReadings.answered(by: known)).subtracting(types)
    var others: [SampleType] = []
    for entry in SampleTypeCatalogue.healthKit.entries
    where entry.aggregation != nil && held.contains(entry.type) && !BloodPressure.values.contains(entry.type) {
      for type in [entry.type] + AppReadings.types(of: entry.type) where known.contains(type) {
        guard try await store.samples.extent(of: type, in: range) != nil else { continue }
        others.append(entry.type)
        break
      }
    }
    return others
  }

  private func newest(before end: Timestamp, _ store: HealthStore) async throws -> DaySummary.NewestSample? {
    let counts = try await store.samples.typeCounts()
    let all = counts.reduce(0) { $0 + $1.samples }
    var newest: DaySummary.NewestSample?
    for count in counts {
      let range = Timestamp(microseconds: .min)..<end
      guard let last = try await store.samples.extent(of: count.type, in: range)?.upperBound,
        newest.map({ $0.start < last }) ?? true
      else { continue }
      newest = DaySummary.NewestSample(type: count.type, start: last, samples: all)
    }
    return newest
  }

  /// The first day of the week; 1970-01-01 was a Thursday.
  private var monday: Int { day - ((day + 3) % 7 + 7) % 7 }

  private func entry(_ type: SampleType, _ rollups: Rollups) async throws -> DaySummary.TypeSummary? {
    var query = StatisticsQuery(type, by: .day, in: zone, now: now)
    query.start = Timestamp(seconds: zone.start(ofDay: min(monday, day) - Baseline.window))
    query.end = Timestamp(seconds: zone.start(ofDay: day + 1))
    (query.sources, query.readings) = (sources, readings)
    let statistics = try await query.run(on: rollups)
    guard !statistics.values.isEmpty else { return nil }
    let days = statistics.dailyValues(in: zone)
    let last = statistics.values.last { zone.dayNumber(at: $0.bucket.start.seconds) == day }
    let baseline = Baseline(of: day, in: days)
    let week = PeriodComparison(
      (monday...day).compactMap { days[$0] }, before: (monday - Baseline.window..<monday).compactMap { days[$0] })
    guard last != nil || baseline != nil || week.now.days > 0 else { return nil }
    let isUnusual = days[day].flatMap { value in baseline.map { $0.isUnusual(value) } } ?? false
    return DaySummary.TypeSummary(
      type: type, unit: statistics.unit, aggregation: statistics.aggregation, number: last?.number, baseline: baseline,
      week: week, isUnusual: isUnusual)
  }
}
