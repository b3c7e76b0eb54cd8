import HealthModel
import HealthStore

/// A query for nights.
///
/// ```swift
/// func nights(in store: HealthStore) async throws {
///   let query = SleepQuery(in: try ZoneRules(named: "Europe/Berlin"))
///   for night in try await query.run(on: store) {
///     print(night.day, (night.asleep ?? 0) / 3600, "hours, of them in", night.naps.count, "naps")
///   }
/// }
/// ```
///
/// The definition of a night is documented in `docs/reference/statistics.md`. Nights are computed from samples each
/// time.
public struct SleepQuery: Sendable {
  public static let type = SampleType("HKCategoryTypeIdentifierSleepAnalysis")
  /// The number of days after a sample's date whose nights may be affected by it.
  public static let reach = SleepDays.window + 2

  /// The time zone that determines the dates of nights.
  public var zone: ZoneRules
  /// The first date of nights, in days since 1970-01-01, or `nil` for all.
  public var firstDay: Int?
  /// The last date of nights, or `nil` for all.
  public var lastDay: Int?
  /// The names of the sources whose samples count, or `nil` for all. Their ranking is that of the whole store.
  public var sources: Set<String>?

  /// The time of the question. A question without dates leaves out nights more than a year ahead (``PlausibleTime``).
  public var now: Timestamp

  /// Whether stages and totals of nights from apps are included where samples are missing or show at least an hour
  /// less.
  public var hasReadings = true
  /// The types of readings that may count, or `nil` for all. Used to restrict what a client may learn.
  public var readingTypes: Set<SampleType>?

  /// Creates a question about all nights.
  public init(in zone: ZoneRules, now: Timestamp = .now) {
    self.zone = zone
    self.now = now
  }

  /// Returns the nights in order of time.
  ///
  /// - Throws: ``StoreError``.
  public func run(on store: HealthStore) async throws -> [Night] { try await run(on: Rollups(of: store)) }

  /// Returns the nights in order of time, reusing rollups across queries.
  ///
  /// - Throws: ``StoreError``.
  public func run(on rollups: Rollups) async throws -> [Night] {
    let facts = try await rollups.facts(about: [Self.type])
    let (sessions, readings) = try await rollups.store.samples.numbers { reader in
      let types = AppReadings.types(of: Self.type).filter { hasReadings && readingTypes?.contains($0) ?? true }
      let readings = try SleepReadings(types, in: range, from: sources, reader)
      return (try self.sessions(reader, facts, readings.stages), readings)
    }
    return chosen(readings.overlaid(on: SleepDays(of: sessions, in: zone).nights(of: sessions), in: zone))
  }

  /// Reads the sleep sessions.
  ///
  /// - Parameter stages: stages from apps, whose sources rank below all others.
  private func sessions(
    _ reader: NumberReader, _ facts: KeptFacts, _ stages: [SleepReadings.Stage]
  ) throws -> [SleepSession] {
    let ranking = try facts.ranking(of: Self.type, reader)
    let apps = Set(stages.map(\.source)).sorted()
    var sessions = SleepSessions(names: ranking.sources.map(\.name) + apps)
    let ranks = Dictionary(uniqueKeysWithValues: apps.enumerated().map { ($1, ranking.sources.count + $0) })
    var rest = stages[...]
    func addStages(upTo start: Int64) {
      while let stage = rest.first, stage.start < start {
        rest.removeFirst()
        sessions.add(start: stage.start, end: stage.end, stage: stage.stage, rank: ranks[stage.source] ?? 0)
      }
    }
    try reader.forEach(Self.type, overlapping: range, from: sources, noLongerThan: SleepSessions.longest) { sample in
      guard let stage = Int(exactly: sample.value).flatMap(SleepStage.init(rawValue:)) else { return }
      addStages(upTo: sample.start)
      sessions.add(
        start: sample.start, end: sample.end, stage: stage,
        rank: ranking.rank(of: sample.source, isUserEntered: sample.isUserEntered))
    }
    addStages(upTo: .max)
    return sessions.finish()
  }

  /// The numbers of days to read before the first and after the last day. A night may begin on the day before, and
  /// the end of a sleep day depends on the days before it (``SleepDays``).
  private static let margins = (before: SleepDays.window + 3, after: 3)

  /// The range to read for the requested nights, in microseconds.
  private var range: Range<Int64> {
    let first = firstDay.map { instant($0.subtractingReportingOverflow(Self.margins.before), or: .min) } ?? .min
    let last = lastDay.map { instant($0.addingReportingOverflow(Self.margins.after), or: .max) } ?? .max
    func edge(_ day: Int?) -> Timestamp? { day.map { Timestamp(microseconds: instant(($0, false), or: .max)) } }
    let limits = PlausibleTime.limits(from: edge(firstDay), to: edge(lastDay), now: now)
    return (first..<max(first, last)).clamped(to: limits.lowerBound.microseconds..<limits.upperBound.microseconds)
  }

  private func instant(_ day: (partialValue: Int, overflow: Bool), or limit: Int64) -> Int64 {
    // A hundred thousand years.
    guard !day.overflow, (-36_500_000...36_500_000).contains(day.partialValue) else { return limit }
    return zone.start(ofDay: day.partialValue) * 1_000_000
  }

  func nights(of sessions: [SleepSession]) -> [Night] {
    chosen(SleepDays(of: sessions, in: zone).nights(of: sessions))
  }

  private func chosen(_ nights: [Night]) -> [Night] {
    nights.filter { night in
      firstDay.map { night.day >= $0 } ?? true && lastDay.map { night.day <= $0 } ?? true
    }
  }
}
