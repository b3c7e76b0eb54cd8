import HealthModel
import HealthStore

/// A query for activity rings.
///
/// ```swift
/// func today(in store: HealthStore) async throws {
///   let zone = try ZoneRules(named: "Europe/Berlin")
///   let day = zone.dayNumber(at: Timestamp.now.seconds)
///   let rings = try await RingsQuery(days: day...day, in: zone).run(on: store)
///   print(rings.first?.move?.share ?? 0)
/// }
/// ```
///
/// The meaning of each ring is documented in `docs/reference/statistics.md`.
public struct RingsQuery: Sendable {
  /// The time zone that determines the dates.
  public var zone: ZoneRules
  /// The days, in days since 1970-01-01.
  public var days: ClosedRange<Int>

  private static let energy = SampleType("HKQuantityTypeIdentifierActiveEnergyBurned")
  private static let exercise = SampleType("HKQuantityTypeIdentifierAppleExerciseTime")
  private static let standHour = SampleType("HKCategoryTypeIdentifierAppleStandHour")
  private static let pageSize = 500

  /// Creates a query.
  ///
  /// - Parameter days: days since 1970-01-01, at most ``CalendarBuckets/maximumCount``.
  public init(days: ClosedRange<Int>, in zone: ZoneRules) {
    self.days = days
    self.zone = zone
  }

  /// Returns the rings of each day that has any, in order of time.
  ///
  /// - Throws: ``StatisticsError`` or ``StoreError``.
  public func run(on store: HealthStore) async throws -> [ActivityRings] {
    try await run(on: store, Rollups(of: store))
  }

  func run(on store: HealthStore, _ rollups: Rollups) async throws -> [ActivityRings] {
    let summaries = try await summaries(store)
    let energy = try await sums(Self.energy, rollups)
    let exercise = try await sums(Self.exercise, rollups)
    let stand = try await standHours(store)
    return Set(summaries.keys).union(energy.keys).union(exercise.keys).union(stand.keys).filter(days.contains).sorted()
      .map { day in
        if let summary = summaries[day] { return ActivityRings(day: day, summary) }
        return ActivityRings(
          day: day, move: energy[day].map { .init($0, unit: "kcal") },
          exercise: exercise[day].map { .init($0, unit: "min") },
          stand: stand[day].map { .init(Double($0), unit: "h") }, isComputed: true)
      }
  }

  private var range: Range<Timestamp> {
    Timestamp(seconds: zone.start(ofDay: days.lowerBound))..<Timestamp(seconds: zone.start(ofDay: days.upperBound + 1))
  }

  private func summaries(_ store: HealthStore) async throws -> [Int: ActivitySummary] {
    // The dates of summaries are local to where the person was. No two zones differ by more than this margin.
    let days = days.lowerBound - 2..<days.upperBound + 3
    let range =
      Timestamp(seconds: Int64(days.lowerBound) * 86_400)..<Timestamp(seconds: Int64(days.upperBound) * 86_400)
    var summaries: [Int: ActivitySummary] = [:]
    var offset = 0
    while true {
      let page = try await store.samples.page(of: .activitySummary, in: range, offset: offset, limit: Self.pageSize)
      for sample in page {
        guard case .activitySummary(let summary) = sample.payload,
          let date = Timestamp(iso8601: summary.date + "T00:00:00Z")
        else { continue }
        // If a date has several summaries, the first in the order of the store counts, independent of their order of
        // arrival.
        let day = Int(date.seconds / 86_400)
        if summaries[day] == nil { summaries[day] = summary }
      }
      offset += page.count
      if page.count < Self.pageSize { return summaries }
    }
  }

  private func sums(_ type: SampleType, _ rollups: Rollups) async throws -> [Int: Double] {
    var query = StatisticsQuery(type, by: .day, in: zone)
    (query.start, query.end) = (range.lowerBound, range.upperBound)
    var sums: [Int: Double] = [:]
    for value in try await query.run(on: rollups).values {
      if case .sum(let sum) = value.number { sums[zone.dayNumber(at: value.bucket.start.seconds)] = sum.sum }
    }
    return sums
  }

  private func standHours(_ store: HealthStore) async throws -> [Int: Int] {
    try await store.samples.numbers { [zone, range] reader in
      var hours = StandHours(in: zone)
      let time = range.lowerBound.microseconds..<range.upperBound.microseconds
      try reader.forEach(Self.standHour, overlapping: time, noLongerThan: 0) { sample in
        // A stand hour belongs to the day on which it begins.
        if time.contains(sample.start) { hours.add(start: sample.start, value: sample.value) }
      }
      return hours.counts
    }
  }
}
