import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel

/// Makes the records of HealthPush's files of samples and tombstones as they are stored.
///
/// A record has HealthPush's members, and in JSON one more, `hpeer`, with the line of the change feed that it was made of
/// (`{"added":SAMPLE}` or `{"deleted":TOMBSTONE}`): HealthPush passes over it, and whoever knows it has all of the sample.
/// The value of what is no quantity is its duration in seconds, as HealthPush has it of sleep.
final class RecordCoder: Sendable {
  private let changes: CodedChanges
  private let options: DayFiles.Options
  private let zone: ZoneRules
  private let printer: SamplePrinter
  private let metrics: [[Metric]]
  private let deletedMetrics: [Metric]
  private let sources: [RecordSource]
  private let tombstones = JSONEncoder()

  /// Throws `DecodingError` where the store is damaged.
  init(_ changes: CodedChanges, _ options: DayFiles.Options, zone: ZoneRules) throws {
    (self.changes, self.options, self.zone) = (changes, options, zone)
    printer = try SamplePrinter(changes)
    let isPretty = options.format == .json
    metrics = changes.types.map { type in changes.kinds.map { Metric(type, payload: $0, isPretty: isPretty) } }
    deletedMetrics = changes.types.map { Metric($0, payload: nil, isPretty: isPretty) }
    sources = changes.sources.map { RecordSource($0, isPretty: isPretty) }
    tombstones.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  /// The day's file that a sample is in.
  func place(of row: CodedSample) -> DayFiles.Place {
    DayFiles.Place(
      key: metrics[Int(row.type)][Int(row.kind)].push.key, day: zone.dayNumber(at: row.start.seconds))
  }

  /// The day's file that a deleted sample was in.
  func place(of row: CodedTombstone) -> DayFiles.Place {
    DayFiles.Place(key: deletedMetrics[Int(row.type)].push.key, day: zone.dayNumber(at: row.start.seconds))
  }

  /// Of the format that these records are written in.
  func writer() -> RecordWriter { RecordWriter(isPretty: options.format == .json) }

  // MARK: Records

  /// Writes a record. Throws `DecodingError` where the store is damaged.
  func write(_ row: CodedSample, to writer: inout RecordWriter) throws {
    let metric = metrics[Int(row.type)][Int(row.kind)]
    let kind = changes.kinds[Int(row.kind)]
    var (value, unit) = (Double(row.end.microseconds &- row.start.microseconds) / 1e6, "s")
    if kind == "quantity" {
      (value, unit) = metric.push.value(
        row.number ?? .nan, row.unit.map { changes.units[Int($0)] } ?? "", isCompatible: options.isCompatible)
    }
    let fields = Fields(
      uuid: row.uuid, start: row.start, end: row.end, metric: metric, value: value, unit: unit,
      source: sources[Int(row.source)], category: kind == "category" ? row.number.flatMap(Int64.init(exactly:)) : nil,
      deleted: nil)
    try write(fields, to: &writer) { feed in
      feed.append("{\"added\":")
      try printer.append(row, to: &feed)
      feed.append("}")
    }
  }

  /// Writes a record, but nothing in CSV, where a deleted sample is one that is not there.
  ///
  /// - Returns: whether there is a record.
  /// - Throws: `EncodingError` of what is no tombstone.
  func write(_ row: CodedTombstone, to writer: inout RecordWriter) throws -> Bool {
    guard options.format != .csv else { return false }
    let metric = deletedMetrics[Int(row.type)]
    let source = Source(name: row.source.map { changes.sources[Int($0)].name } ?? "")
    let fields = Fields(
      uuid: row.uuid, start: row.start, end: row.end ?? row.start, metric: metric, value: 0,
      unit: metric.push.unit ?? "",
      source: RecordSource(source, isPretty: options.format == .json), category: nil, deleted: row.deleted)
    try write(fields, to: &writer) { feed in
      feed.append("{\"deleted\":")
      feed += try tombstones.encode(changes.tombstone(row))
      feed.append("}")
    }
    return true
  }

  /// What the records of a type and a kind of payload have in common.
  private struct Metric {
    let push: HealthPushMetric
    /// The value of their member `metric`.
    let json: [UInt8]

    init(_ type: SampleType, payload: String?, isPretty: Bool) {
      push = HealthPushMetric(type, payload: payload)
      var writer = RecordWriter(isPretty: isPretty, depth: 2)
      writer.beginObject()
      writer.member("hkIdentifier", type.rawValue)
      writer.member("key", push.key)
      writer.member("kind", push.kind)
      writer.endObject()
      json = writer.bytes
    }
  }

  private struct RecordSource {
    let source: Source
    /// Whether its samples are numbers of hours or days.
    let isStatistics: Bool
    /// The value of the member `source`.
    let json: [UInt8]

    init(_ source: Source, isPretty: Bool) {
      self.source = source
      isStatistics = source == DeliveryShape.source
      var writer = RecordWriter(isPretty: isPretty, depth: 2)
      writer.beginObject()
      writer.member("bundleId", source.bundleIdentifier ?? "")
      writer.member("name", source.name)
      writer.endObject()
      json = writer.bytes
    }
  }

  private struct Fields {
    var uuid: UUID
    var start: Timestamp
    var end: Timestamp
    var metric: Metric
    var value: Double
    var unit: String
    var source: RecordSource
    var category: Int64?
    var deleted: Timestamp?

    /// How ``value`` comes of what was measured.
    var aggregation: String {
      guard source.isStatistics, deleted == nil else { return "raw" }
      return metric.push.kind == "cumulative" ? "sum" : "mean"
    }
  }

  /// - Parameter feed: appends the line of the change feed.
  private func write(
    _ fields: Fields, to record: inout RecordWriter, feed: (inout [UInt8]) throws -> Void
  ) throws {
    guard options.format != .csv else { return record.bytes.append(contentsOf: row(fields).utf8) }
    record.beginObject()
    record.member("aggregation", fields.aggregation)
    record.member("categoryValue", fields.category)
    record.member("deleted", fields.deleted != nil)
    if let deleted = fields.deleted { record.member("deletedAt", deleted) }
    record.member("endDate", fields.end)
    if options.hasWholeSamples {
      record.name("hpeer")
      try feed(&record.bytes)
    }
    record.member("metric", json: fields.metric.json)
    record.member("schemaVersion", "1.0")
    record.member("source", json: fields.source.json)
    record.member("startDate", fields.start)
    record.member("tzOffset", offset(at: fields.start))
    record.member("unit", fields.unit)
    record.member("uuid", fields.uuid)
    record.member("value", fields.value)
    record.endObject()
  }

  private func row(_ fields: Fields) -> String {
    let columns = [
      fields.uuid.uuidString, Self.date(fields.start), Self.date(fields.end), offset(at: fields.start),
      fields.value.isFinite ? "\(fields.value)" : "", fields.unit, fields.aggregation, fields.source.source.name,
      fields.source.source.bundleIdentifier ?? "", "1.0",
    ]
    return columns.map(Self.quoted).joined(separator: ",")
  }

  private static func quoted(_ field: String) -> String {
    guard field.utf8.contains(where: { ",\"\n\r".utf8.contains($0) }) else { return field }
    return "\"" + field.replacingOccurrences(of: "\"", with: "\"\"") + "\""
  }

  // MARK: Texts

  /// `2024-06-15T10:30:00.000Z`.
  static func date(_ instant: Timestamp) -> String {
    var bytes: [UInt8] = []
    instant.appendMilliseconds(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// `+02:00`: what clocks at home showed then.
  private func offset(at instant: Timestamp) -> String {
    let minutes = zone.offset(at: instant.seconds) / 60
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    return "\(minutes < 0 ? "-" : "+")\(two(abs(minutes) / 60)):\(two(abs(minutes) % 60))"
  }
}
