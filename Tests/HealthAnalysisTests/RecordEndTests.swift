import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests of the days on which a record ends.
@Suite("Where a record ends") struct RecordEndTests {
  private static let steps = SampleType("HKQuantityTypeIdentifierStepCount")
  private static let swimming = SampleType("HKQuantityTypeIdentifierDistanceSwimming")
  private static let weight = SampleType("HKQuantityTypeIdentifierBodyMass")
  private static let sent = SampleType("hae.handwashing")
  /// The last day of the record, Saturday, 2024-06-15, in days since 1970-01-01.
  private static let day = 19_889

  private let directory: TemporaryDirectory
  private let store: HealthStore
  private let zone: ZoneRules

  init() throws {
    directory = try TemporaryDirectory()
    store = try HealthStore(directory: directory.path)
    zone = try ZoneRules(named: "Europe/Berlin")
  }

  /// - Parameter hour: The hour of the day, in the zone.
  private func instant(_ day: Int, _ hour: Double) -> Timestamp {
    Timestamp(seconds: zone.start(ofDay: day) + Int64(hour * 3600))
  }

  private func sample(
    _ type: SampleType, _ day: Int, hour: Double, _ value: Double = 100, _ unit: String = "count"
  ) -> Sample {
    let start = instant(day, hour)
    return Sample(
      uuid: UUID(), type: type, start: start, end: Timestamp(seconds: start.seconds + 60),
      source: Source(name: "Watch"), payload: .quantity(Quantity(value, unit)))
  }

  /// Adds steps for 30 days, up to 07:30 on the last day.
  private func addSteps() async throws {
    var samples: [Sample] = []
    for day in Self.day - 29...Self.day {
      for hour in [7.0, 12, 18] where day < Self.day || hour < 8 {
        samples.append(sample(Self.steps, day, hour: hour, 3_000))
      }
    }
    try await store.apply(ChangeBatch(additions: samples))
  }

  /// Returns the days of a type that are marked as partial, relative to the day.
  private func partial(
    _ type: SampleType, now: Timestamp? = nil, by size: BucketSize = .day, marks: Bool = true
  ) async throws -> [Int] {
    var query = StatisticsQuery(type, by: size, in: zone, now: now ?? instant(Self.day + 10, 9))
    query.marksRecordEnd = marks
    let kept = try await query.run(on: store)
    #expect(try await query.computed(from: store) == kept)
    return kept.values.filter(\.isPartial).map { zone.dayNumber(at: $0.bucket.start.seconds) - Self.day }
  }

  @Test("the day of an export stays partial after it")
  func dayOfExport() async throws {
    try await addSteps()
    #expect(try await partial(Self.steps) == [0])
    #expect(try await partial(Self.steps, by: .month) == [-14], "June")
    #expect(try await partial(Self.steps, marks: false) == [])
    try await store.apply(ChangeBatch(additions: [sample(Self.steps, Self.day + 1, hour: 8)]))
    #expect(try await partial(Self.steps) == [1], "the next day's first steps prove it whole")
  }

  @Test("means and comparisons leave it out")
  func comparisons() async throws {
    try await addSteps()
    let summary = try await DaySummaryQuery(day: Self.day, in: zone, now: instant(Self.day + 1, 9)).run(on: store)
    let entry = try #require(summary.types.first { $0.type == Self.steps })
    #expect(summary.isPartial && summary.knownUntil == instant(Self.day, 7))
    #expect(entry.number?.representative == 3_000 && !entry.isUnusual)
    #expect(entry.week.now.days == 5 && entry.week.share == 0)
    let next = try await DaySummaryQuery(day: Self.day + 1, in: zone, now: instant(Self.day + 1, 9)).run(on: store)
    #expect(next.knownUntil == instant(Self.day, 7))
    #expect(next.types.first { $0.type == Self.steps }?.week.share == 0)
  }

  @Test("what is rare is whole once a watch has recorded something later")
  func rareType() async throws {
    try await store.apply(ChangeBatch(additions: [sample(Self.swimming, Self.day - 3, hour: 7, 1, "km")]))
    #expect(try await partial(Self.swimming) == [-3])
    try await addSteps()
    #expect(try await partial(Self.swimming) == [])
  }

  @Test("what another app adds later says nothing of steps")
  func otherApp() async throws {
    try await addSteps()
    try await store.apply(
      ChangeBatch(additions: [
        sample(Self.weight, Self.day + 1, hour: 7, 80, "kg"), sample(Self.sent, Self.day + 2, hour: 0, 80),
      ]))
    #expect(try await partial(Self.steps) == [0])
    #expect(try await partial(Self.weight) == [1])
    #expect(try await partial(Self.sent) == [2])
    let day = try await DaySummaryQuery(day: Self.day, in: zone, now: instant(Self.day + 3, 9)).run(on: store)
    #expect(day.isPartial && day.knownUntil == instant(Self.day, 7))
  }

  @Test("any type proves a record in which no device records every day")
  func scaleOnly() async throws {
    try await store.apply(
      ChangeBatch(additions: [
        sample(Self.weight, Self.day, hour: 7, 80, "kg"), sample(Self.swimming, Self.day + 1, hour: 7, 1, "km"),
      ]))
    #expect(try await partial(Self.weight) == [])
    #expect(try await partial(Self.swimming) == [1])
  }

  @Test("a clock that is years ahead proves nothing")
  func clockAhead() async throws {
    try await addSteps()
    try await store.apply(ChangeBatch(additions: [sample(Self.steps, Self.day + 40_000, hour: 8)]))
    #expect(try await partial(Self.steps).first == 0)
    #expect(
      try await store.samples.numbers { try RecordEnd($0, now: Timestamp(seconds: 1_719_000_000)).ofDays() }
        == instant(Self.day, 7))
  }
}
