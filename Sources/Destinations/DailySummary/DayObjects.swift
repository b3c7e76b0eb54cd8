import HealthAnalysis
import HealthModel
import HealthStore

/// A builder for the objects of P247's `POST /sync/healthkit`, one per day: numbers, the night that ended on it, the
/// workouts that began on it.
///
/// Days follow the time zone: 23 or 25 hours when clocks change. A night belongs only to the day on which it ended.
struct DayObjects: Sendable {
  let record: RecordReader
  let metrics: DailyMetrics
  let now: Timestamp

  /// Returns the days, in days since 1970-01-01, that a batch may have changed.
  func changed(_ times: ChangedTimes) -> Set<Int> {
    var days: Set<Int> = []
    for type in metrics.types.union([.workout]) {
      for run in times.days(of: type, in: record.zone) { days.formUnion(run) }
    }
    // A sample in the evening may belong to the next day's night, and affects where later sleep days end.
    for run in times.days(of: SleepQuery.type, in: record.zone) {
      days.formUnion(run.lowerBound - 1...run.upperBound + SleepQuery.reach)
    }
    return days
  }

  /// Returns the first day that may have content, or `nil` for an empty record.
  func firstDay() async throws -> Int? {
    var first: Int?
    let types = metrics.types.union([.workout, SleepQuery.type])
    for type in types.union(types.flatMap(AppReadings.types)) where record.filter.passes(type) {
      let times = Timestamp(seconds: 0)..<Timestamp(microseconds: .max)
      guard let start = try await record.store.samples.extent(of: type, in: times)?.lowerBound else { continue }
      first = min(first ?? .max, record.zone.dayNumber(at: start.seconds))
    }
    return first
  }

  /// Returns the objects of some days, without the time of delivery. Days without content are omitted.
  func objects(of days: ClosedRange<Int>) async throws -> [Int: [String: JSONValue]] {
    let start = Timestamp(seconds: record.zone.start(ofDay: days.lowerBound))
    let end = Timestamp(seconds: record.zone.start(ofDay: days.upperBound + 1))
    guard start < end else { return [:] }
    var objects: [Int: [String: JSONValue]] = [:]
    let workouts = Dictionary(grouping: try await record.workouts(in: start..<end)) { day(of: $0.sample.start) }
    let metrics = try await metrics(
      from: start, to: end, runs: Set(workouts.filter { $0.value.contains(where: isRun) }.keys))
    let nights = Dictionary(
      try await record.nights(from: days.lowerBound, upTo: days.upperBound).map { ($0.day, $0) },
      uniquingKeysWith: { $1 })
    for day in days {
      let night = nights[day].flatMap { sleep($0.main) }
      guard metrics[day] != nil || workouts[day] != nil || night != nil else { continue }
      var object = empty(day)
      object["metrics"] = .object(metrics[day] ?? [:])
      object["sleep"] = night.map(JSONValue.object)
      object["workouts"] = .array((workouts[day] ?? []).map(workout))
      objects[day] = object
    }
    return objects
  }

  /// Returns refusals for refused days, so that they are known and can be sent again: the batch's samples of a day,
  /// or else a sample of each type on that day. Throws `StoreError`.
  ///
  /// - Parameter days: the refused days with the reasons.
  func refused(_ days: [Int: String], of batch: DeliveryBatch) async throws(StoreError) -> [RefusedSample] {
    if days.isEmpty { return [] }
    var refused: [RefusedSample] = []
    var named: Set<Int> = []
    let types = metrics.types.union([.workout, SleepQuery.type])
    func add(_ sample: SampleReference, _ end: Timestamp) {
      guard types.contains(sample.type) else { return }
      let touched = [day(of: sample.start), day(of: end)]
      guard let (day, reason) = days.first(where: { touched.contains($0.key) }) else { return }
      named.insert(day)
      refused.append(RefusedSample(sample, reason: reason))
    }
    for row in batch.changes.samples {
      add(SampleReference(type: batch.changes.types[Int(row.type)], start: row.start, uuid: row.uuid), row.end)
    }
    for tombstone in batch.deletions { add(tombstone.sample, tombstone.end ?? tombstone.sample.start) }
    for (day, reason) in days.sorted(by: { $0.key < $1.key }) where !named.contains(day) {
      let time = record.zone.day(day)
      let range = Timestamp(seconds: time.lowerBound)..<Timestamp(seconds: time.upperBound)
      for type in types where record.filter.passes(type) {
        let found = try await record.store.samples.page(of: type, in: range, from: record.filter.sources, limit: 1)
        refused += found.map { RefusedSample($0.reference, reason: reason) }
      }
    }
    return refused
  }

  /// Returns the object of a day without content.
  func empty(_ day: Int) -> [String: JSONValue] {
    [
      "date": .string(String(Timestamp(seconds: Int64(day) * 86_400).iso8601.prefix(10))),
      "timezone": .string(record.zone.name), "metrics": .object([:]), "workouts": .array([]),
    ]
  }

  private func day(of instant: Timestamp) -> Int { record.zone.dayNumber(at: instant.seconds) }

  private func metrics(
    from start: Timestamp, to end: Timestamp, runs: Set<Int>
  ) async throws -> [Int: [String: JSONValue]] {
    var found: [Int: [String: JSONValue]] = [:]
    for (key, metric) in metrics.byKey {
      var statistics = try await record.statistics(of: metric.type, by: .day, from: start, to: end, now: now)
      if let unit = metric.unit, !statistics.values.isEmpty {
        // A type with no known unit may have samples that cannot be converted.
        guard let converted = statistics.converted(to: unit) else { continue }
        statistics = converted
      }
      for bucket in statistics.values {
        let day = day(of: bucket.bucket.start)
        guard !metric.needsRun || runs.contains(day) else { continue }
        found[day, default: [:]][key] = metric.value(bucket.number, unit: statistics.unit)
      }
    }
    return found
  }

  private func sleep(_ session: SleepSession) -> [String: JSONValue]? {
    guard let asleep = session.asleep else { return nil }
    func hours(_ seconds: Double) -> JSONValue { DailyMetric.rounded(seconds / 3_600, 2) }
    var sleep = [
      "total_hours": hours(asleep), "core_hours": hours(session.duration(of: .asleepCore)),
      "deep_hours": hours(session.duration(of: .asleepDeep)), "rem_hours": hours(session.duration(of: .asleepREM)),
      "awake_hours": hours(session.duration(of: .awake)),
    ]
    sleep["source"] = record.sendsNames ? session.source.map(JSONValue.string) : nil
    return sleep
  }

  private func workout(_ summary: WorkoutSummary) -> JSONValue {
    let prefix = "HKWorkoutActivityType"
    let name = summary.workout.activityType.exported
    var members: [String: JSONValue] = [
      "type": .string(name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name),
      "start": .string(record.zone.text(Timestamp(seconds: summary.sample.start.seconds))),
    ]
    members["duration_seconds"] = summary.duration.map { DailyMetric.rounded($0, 0) }
    members["source"] = record.sendsNames ? .string(summary.sample.source.name) : nil
    members["energy_kcal"] = summary.energy.map { DailyMetric.rounded($0, 0) }
    return .object(members)
  }

  private func isRun(_ summary: WorkoutSummary) -> Bool {
    summary.workout.activityType.exported == "HKWorkoutActivityTypeRunning"
  }
}
