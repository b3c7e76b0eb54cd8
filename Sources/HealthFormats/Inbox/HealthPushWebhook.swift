import Foundation
import HealthModel

/// A request body that HealthPush sends to Home Assistant: an object with `metrics` and `device_name`, and one
/// rounded number of each type for an instant or a day.
///
/// Such a number is not the HealthKit sample whose UUID it may have, because it has lost digits, its source and its
/// companions. It has a type of its own, `healthpush.` and the metric. A newer reading of the same time replaces it.
struct HealthPushWebhook: InboxFormat {
  static let format = InboxBody.Format.healthPush
  static let road = SampleRoad.unknown
  static let sourceName = "HealthPush"
  private static let longestName = 128
  private static let longestUnit = 64

  private let content: [UInt8]

  init?(_ body: InboxCandidate) {
    guard Self.isOne(body) else { return nil }
    content = body.content
  }

  static func isOne(_ body: InboxCandidate) -> Bool {
    body.arrays.contains("metrics") && body.members.contains("device_name")
  }

  func read(
    period: AggregationPeriod?, now: Timestamp, deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    try InboxElements.read(content, under: "metrics", deliver: deliver) { metric, weight, collector, line in
      try Self.add(metric, weight: weight, now: now, to: &collector, line: line)
    }
  }

  private static func add(
    _ metric: JSONValue, weight: Int, now: Timestamp, to collector: inout SampleCollector, line: () -> Int
  ) throws {
    guard case .object(let members) = metric, case .string(let name)? = members["type"], !name.isEmpty,
      name.utf8.count <= longestName
    else { return collector.report.skipped.add("HealthPush: a metric without a type", line: line) }
    guard let value = number(members["value"]) else {
      return collector.report.skipped.add("\(name): a metric without a number", line: line)
    }
    guard case .string(let from)? = members["start_date"], let start = Timestamp(iso8601: from) else {
      return collector.report.skipped.add("\(name): a metric without a readable date", line: line)
    }
    var end = start
    if case .string(let to)? = members["end_date"], let found = Timestamp(iso8601: to), found >= start { end = found }
    var unit = ""
    if case .string(let text)? = members["unit"], text.utf8.count <= longestUnit { unit = Self.units[text] ?? text }
    let kind = HealthPushMetric.identifiers[name].flatMap { HealthPushMetric.known($0) }?.kind
    var metadata: Metadata = [:]
    if kind == "cumulative" { metadata["hpeer.aggregation"] = .string("day") }
    if kind == "category" { metadata["hpeer.aggregation"] = .string("night") }
    var sample = Sample(
      uuid: AutoExportReader.noIdentity, type: SampleType("healthpush.\(name)"), start: start, end: end, created: now,
      source: Source(name: sourceName), metadata: metadata, payload: .quantity(Quantity(value, unit)))
    sample.uuid = SampleIdentity.uuid(ofReading: sample)
    try collector.add(sample, weight: weight, isReading: true, line: line)
  }

  /// HealthKit's names of the units that HealthPush shows. Percentages remain 0 to 100; HealthKit's are 0 to 1.
  private static let units = [
    "steps": "count", "flights": "count", "BMI": "count", "bpm": "count/min", "breaths/min": "count/min",
    "°C": "degC",
  ]

  private static func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .integer(let integer): Double(integer)
    case .number(let number): number
    case .string(let text): SampleCSV.number(text).flatMap { $0.isFinite ? $0 : nil }
    default: nil
    }
  }
}
