import Foundation
import HealthModel

/// The daily summaries of the app P247: `{"data":[{"date":…,"timezone":…,"metrics":{},"sleep":{},"workouts":[]}]}`.
///
/// The numbers cover whole days and so have types of their own: `p247.` and the key, such as `p247.step_count`. The
/// newest reading of a day replaces older ones. A night keeps its members, because they do not add up to its total.
struct DailySummaries: InboxFormat {
  static let format = InboxBody.Format.dailySummary
  static let road = SampleRoad.unknown
  static let sourceName = "P247"
  static let payloadKind = "dailySummary"
  private static let longestKey = 128

  private let content: [UInt8]

  init?(_ body: InboxCandidate) {
    guard body.arrays.contains("data") else { return nil }
    content = body.content
  }

  func read(
    period: AggregationPeriod?, now: Timestamp, deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    try InboxElements.read(content, under: "data", deliver: deliver) { day, weight, collector, line in
      try Self.add(day, weight: weight, now: now, to: &collector, line: line)
    }
  }

  private static func add(
    _ day: JSONValue, weight: Int, now: Timestamp, to collector: inout SampleCollector, line: () -> Int
  ) throws {
    guard case .object(let members) = day, let (start, end) = bounds(members) else {
      return collector.report.skipped.add("P247: a day without a readable date and time zone", line: line)
    }
    // A phone whose clock is ahead must not block later readings.
    let synchronised = members["device_sync_timestamp"]?.text.flatMap { Timestamp(iso8601: $0) }
    let created = min(synchronised ?? now, now)
    func add(_ key: String, _ source: String?, _ span: (Timestamp, Timestamp), _ metadata: Metadata, _ payload: Payload)
      throws
    {
      var sample = Sample(
        uuid: AutoExportReader.noIdentity, type: SampleType("p247.\(key)"), start: span.0, end: span.1,
        created: created, source: Source(name: source ?? sourceName), metadata: metadata, payload: payload)
      sample.uuid = SampleIdentity.uuid(ofReading: sample)
      try collector.add(sample, weight: weight, isReading: true, line: line)
    }
    if case .object(let metrics)? = members["metrics"] {
      for (key, value) in metrics.sorted(by: { $0.key < $1.key }) where value != .null {
        guard let value = value.double, (1...longestKey).contains(key.utf8.count) else {
          collector.report.skipped.add("P247: a number of a day that is none", line: line)
          continue
        }
        try add(
          key, nil, (start, end), ["hpeer.aggregation": .string("day")],
          .quantity(Quantity(value, DailySummaryMetric.known[key]?.unit ?? "")))
      }
    }
    if case .object(let sleep)? = members["sleep"], sleep.contains(where: { $0.value != .null }) {
      let source = sleep["source"]?.text
      try add(
        "sleep", source, (start, end), ["hpeer.aggregation": .string("night")], .foreign(payloadKind, .object(sleep)))
    }
    if case .array(let workouts)? = members["workouts"] {
      for workout in workouts {
        guard case .object(let members) = workout,
          let start = members["start"]?.text.flatMap({ Timestamp(iso8601: $0) })
        else {
          collector.report.skipped.add("P247: a workout without a readable start", line: line)
          continue
        }
        let seconds = min(max(members["duration_seconds"]?.double ?? 0, 0), 366 * 86_400)
        let (end, isTooLate) = start.microseconds.addingReportingOverflow(Int64(seconds * 1_000_000))
        try add(
          "workout", members["source"]?.text, (start, isTooLate ? start : Timestamp(microseconds: end)), [:],
          .foreign(payloadKind, .object(members)))
      }
    }
  }

  /// Returns local midnight and the next local midnight, which are not 24 hours apart on days of a clock change.
  private static func bounds(_ members: [String: JSONValue]) -> (Timestamp, Timestamp)? {
    guard let date = members["date"]?.text, date.utf8.count == 10, let noon = Timestamp(iso8601: date + "T12:00:00Z"),
      let name = members["timezone"]?.text, name.utf8.count <= 64, let zone = TimeZone(identifier: name)
    else { return nil }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    let civil = noon.civil
    let fields = DateComponents(year: civil.year, month: civil.month, day: civil.day, hour: 12)
    guard (1900...2200).contains(civil.year), let day = calendar.date(from: fields),
      let span = calendar.dateInterval(of: .day, for: day)
    else { return nil }
    return (
      Timestamp(seconds: Int64(span.start.timeIntervalSince1970)),
      Timestamp(seconds: Int64(span.end.timeIntervalSince1970))
    )
  }
}
