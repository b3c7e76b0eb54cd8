import HealthAnalysis
import HealthModel
import HealthStore

/// The read access of a destination to the current record, limited to what the destination may receive.
public struct RecordReader: Sendable {
  let store: HealthStore
  /// The selection of samples that this destination may receive.
  public let filter: SampleFilter
  /// The time zone that determines the days.
  public let zone: ZoneRules
  /// Whether the names of sources may be sent.
  public let sendsNames: Bool
  /// The units that the person chose, by type; other types use their usual units.
  public let units: [SampleType: String]

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - zone: the person's home time zone.
  ///   - sendsNames: whether the names of sources may be sent.
  ///   - units: units in HealthKit's notation, each compatible with its type.
  public init(
    _ store: HealthStore, filter: SampleFilter, zone: ZoneRules, sendsNames: Bool = true,
    units: [SampleType: String] = [:]
  ) {
    self.units = units
    self.store = store
    self.filter = filter
    self.zone = zone
    self.sendsNames = sendsNames
  }

  /// Returns a sample as it may be sent: without names if names are withheld.
  func told(_ sample: Sample) -> Sample { sendsNames ? sample : NameRedaction.applied(to: sample) }

  /// Returns the statistics of a type, in days of ``zone``; without values if the type is not selected.
  ///
  /// - Parameters:
  ///   - end: not included.
  ///   - readings: the app readings that count, among the selected types.
  /// - Throws: `StatisticsError` if the type has no numbers, `StoreError`.
  public func statistics(
    of type: SampleType, by size: BucketSize, from start: Timestamp?, to end: Timestamp?, now: Timestamp = .now,
    readings: ReadingRule = .all
  ) async throws -> Statistics {
    var query = StatisticsQuery(type, by: size, in: zone, now: now)
    query.start = [start, filter.bounds.earliest].compactMap(\.self).max()
    query.end = [end, filter.bounds.end].compactMap(\.self).min()
    query.sources = filter.passes(type) ? filter.sources : []
    (query.readings, query.readingTypes) = (readings, filter.types)
    return try await query.run(on: store)
  }
}

/// Access to related samples, which may have been delivered in another batch.
extension RecordReader {
  /// Returns the members of a correlation that exist and are selected; none for other samples.
  func members(of sample: Sample) async throws(StoreError) -> [Sample] {
    guard case .correlation(let correlation) = sample.payload else { return [] }
    var members: [Sample] = []
    for reference in correlation.members where filter.passes(reference) {
      guard let member = try await store.samples.sample(reference), filter.passes(member) else { continue }
      members.append(told(member))
    }
    return members
  }

  /// Returns the selected parts of a workout's route in their order.
  func routes(of workout: Sample) async throws(StoreError) -> [Sample] {
    guard filter.passes(.workoutRoute) else { return [] }
    // The route may start before its workout, while the watch searches for satellites, or end later.
    let margin: Int64 = 3_600_000_000
    let start = Timestamp(microseconds: workout.start.microseconds.subtractingReportingOverflow(margin).partialValue)
    let end = Timestamp(microseconds: workout.end.microseconds.addingReportingOverflow(margin).partialValue)
    guard start < end else { return [] }
    var routes: [Sample] = []
    for reference in try await store.samples.routes(in: start..<end, from: filter.sources)
    where reference.workout == workout.reference && filter.passes(reference.route) {
      if let route = try await store.samples.sample(reference.route) { routes.append(told(route)) }
    }
    return routes
  }

  /// Returns a sample, or `nil` if it doesn't exist or is not selected.
  func sample(_ reference: SampleReference) async throws(StoreError) -> Sample? {
    guard filter.passes(reference), let sample = try await store.samples.sample(reference), filter.passes(sample) else {
      return nil
    }
    return told(sample)
  }
}

extension RecordReader {
  /// The number of newest samples that are searched for a usable value.
  private static let newest = 20

  /// Returns the types that have selected samples or app readings. Throws `StoreError`.
  public func types() async throws(StoreError) -> [SampleType] {
    let held = try await store.samples.typeCounts(filter).filter { $0.samples > 0 }.map(\.type)
    let answered = AppReadings.answered(by: held).subtracting(held).filter(filter.passes)
    return held + answered.sorted { $0.rawValue < $1.rawValue }
  }

  /// Returns the current value of a type, or `nil` if it has no sample with a value.
  ///
  /// A total is that of the day of `now`, and 0 if that day has none yet.
  public func currentValue(of type: SampleType, now: Timestamp = .now) async throws -> CurrentValue? {
    guard filter.passes(type) else { return nil }
    if type == SleepQuery.type { return try await lastNight(now: now) }
    if SampleTypeCatalogue.healthKit[type]?.aggregation == .cumulative {
      return try await total(of: type, on: zone.dayNumber(at: now.seconds), now: now)
    }
    return try await latest(of: type)
  }

  /// Returns the sum of one day: 0 for a day without samples, `nil` for a type without samples.
  ///
  /// - Parameter day: days since 1970-01-01.
  public func total(of type: SampleType, on day: Int, now: Timestamp = .now) async throws -> CurrentValue? {
    let time = zone.day(day)
    let (start, end) = (Timestamp(seconds: time.lowerBound), Timestamp(seconds: time.upperBound))
    let statistics = try await statistics(of: type, by: .day, from: start, to: end, now: now)
    guard let bucket = statistics.values.first, case .sum(let sum) = bucket.number, sum.sum.isFinite else {
      guard try await latest(of: type) != nil else { return nil }
      return CurrentValue(type: type, content: .number(0), unit: statistics.unit, start: start, end: end)
    }
    let source = sum.sources.max { $0.seconds < $1.seconds } ?? sum.sources.first
    return CurrentValue(
      type: type, content: .number(sum.sum), unit: statistics.unit, start: start, end: end,
      source: sendsNames ? source?.name : nil)
  }

  /// Returns the newest sample with a value, in the canonical unit of its type, or a newer app reading.
  public func latest(of type: SampleType) async throws(StoreError) -> CurrentValue? {
    let samples = try await store.samples.page(
      of: type, in: filter.range, from: filter.sources, limit: Self.newest)
    var value = samples.lazy.compactMap(Self.value).first
    for reading in AppReadings.types(of: type) where filter.passes(reading) {
      let readings = try await store.samples.page(
        of: reading, in: filter.range, from: filter.sources, limit: Self.newest)
      let newest = readings.lazy.compactMap { sample in
        AppReadings.value(of: sample, for: type).flatMap { number -> CurrentValue? in
          guard number.isFinite else { return nil }
          return CurrentValue(
            type: type, content: .number(number), unit: SampleTypeCatalogue.healthKit[type]?.canonicalUnit,
            start: sample.start, end: sample.end, source: sample.source.name)
        }
      }.first
      if let newest, value.map({ $0.end <= newest.start }) ?? true { value = newest }
    }
    if !sendsNames { value?.source = nil }
    return value
  }

  private static func value(of sample: Sample) -> CurrentValue? {
    var value = CurrentValue(
      type: sample.type, content: .text(""), start: sample.start, end: sample.end, source: sample.source.name)
    switch sample.payload {
    case .quantity(let quantity):
      let unit = SampleTypeCatalogue.healthKit[sample.type]?.canonicalUnit ?? quantity.unit
      guard let number = UnitConversion.convert(quantity.value, from: quantity.unit, to: unit), number.isFinite else {
        return nil
      }
      (value.content, value.unit) = (.number(number), unit)
    case .category(let category):
      guard let text = CategoryValueNames.healthKit.exported(category, type: sample.type) else { return nil }
      value.content = .text(text)
      value.details = category.value.map { ["raw": Double($0)] } ?? [:]
    case .workout(let workout):
      value.content = .text(workout.activityType.displayName)
      if let summary = WorkoutSummary(sample) {
        value.details = ["elapsed_min": summary.elapsed / 60]
        value.details["distance_m"] = summary.distance
        value.details["energy_kcal"] = summary.energy
      }
    default: return nil
    }
    return value
  }

  // MARK: Sleep

  /// Returns the newest night up to the day of `now`, in hours asleep.
  public func lastNight(now: Timestamp = .now) async throws -> CurrentValue? {
    let today = zone.dayNumber(at: now.seconds)
    let end = Timestamp(seconds: zone.start(ofDay: today + 1))
    let range = Timestamp(microseconds: .min)..<max(end, Timestamp(microseconds: .min + 1))
    var last: Timestamp?
    for type in [SleepQuery.type] + AppReadings.types(of: SleepQuery.type) where filter.passes(type) {
      guard let end = try await store.samples.extent(of: type, in: range)?.upperBound else { continue }
      last = max(last ?? end, end)
    }
    guard let last else { return nil }
    // The last two weeks are usually enough; otherwise all nights are read.
    var night: Night?
    for first in [zone.dayNumber(at: last.seconds) - 14, nil] where night == nil {
      night = try await nights(from: first, upTo: today).last { $0.main.asleep != nil }
    }
    guard let night, let asleep = night.main.asleep else { return nil }
    let main = night.main
    var value = CurrentValue(
      type: SleepQuery.type, content: .number(asleep / 3600), unit: "hr", start: main.onset ?? main.start,
      end: main.wake ?? main.end, source: sendsNames ? main.source : nil)
    for (stage, name) in Self.stages {
      let seconds = main.duration(of: stage)
      if seconds > 0 { value.details["\(name)_hours"] = seconds / 3600 }
    }
    value.details["naps_hours"] = night.naps.isEmpty ? nil : night.naps.reduce(0) { $0 + ($1.asleep ?? 0) / 3600 }
    return value
  }

  private static let stages: [(SleepStage, String)] = [
    (.inBed, "in_bed"), (.awake, "awake"), (.asleepCore, "core"), (.asleepDeep, "deep"), (.asleepREM, "rem"),
    (.asleepUnspecified, "unspecified"),
  ]

  /// Returns the selected nights by the day on which they ended, in order.
  ///
  /// - Parameters:
  ///   - firstDay: days since 1970-01-01; `nil` for the earliest.
  ///   - lastDay: included.
  public func nights(from firstDay: Int? = nil, upTo lastDay: Int) async throws -> [Night] {
    guard filter.passes(SleepQuery.type) else { return [] }
    var query = SleepQuery(in: zone)
    (query.firstDay, query.lastDay, query.sources) = (firstDay, lastDay, filter.sources)
    query.readingTypes = filter.types
    return try await query.run(on: store).filter { filter.passes(start: $0.main.start) }
  }

  /// Returns the selected workouts that start in a range, without duplicates.
  public func workouts(in range: Range<Timestamp>) async throws -> [WorkoutSummary] {
    guard filter.passes(.workout) else { return [] }
    var query = WorkoutQuery()
    (query.range, query.sources) = (range, filter.sources)
    return try await query.run(on: store).filter { $0.isCounted && filter.passes(start: $0.sample.start) }
  }
}
