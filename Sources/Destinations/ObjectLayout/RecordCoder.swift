import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel

/// Makes the records of HealthPush's files of samples and tombstones as they are stored.
///
/// A record has HealthPush's members, and in JSON one more, `hpeer`, with the line of the change feed that it was made of
/// (`{"added":SAMPLE}` or `{"deleted":TOMBSTONE}`): HealthPush passes over it, and whoever knows it has all of the sample.
/// The value of what is no quantity is its duration in seconds, as HealthPush has it of sleep.
struct RecordCoder: Sendable {
  private let changes: CodedChanges
  private let options: DayFiles.Options
  private let zone: ZoneRules
  private let printer: SamplePrinter
  private let metrics: [[HealthPushMetric]]
  private let deletedMetrics: [HealthPushMetric]
  private let tombstones = JSONEncoder()

  /// Throws `DecodingError` where the store is damaged.
  init(_ changes: CodedChanges, _ options: DayFiles.Options, zone: ZoneRules) throws {
    (self.changes, self.options, self.zone) = (changes, options, zone)
    printer = try SamplePrinter(changes)
    metrics = changes.types.map { type in changes.kinds.map { HealthPushMetric(type, payload: $0) } }
    deletedMetrics = changes.types.map { HealthPushMetric($0, payload: nil) }
    tombstones.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  /// The day's file that a sample is in.
  func place(of row: CodedSample) -> DayFiles.Place {
    DayFiles.Place(key: metrics[Int(row.type)][Int(row.kind)].key, day: zone.dayNumber(at: row.start.seconds))
  }

  /// The day's file that a deleted sample was in.
  func place(of row: CodedTombstone) -> DayFiles.Place {
    DayFiles.Place(key: deletedMetrics[Int(row.type)].key, day: zone.dayNumber(at: row.start.seconds))
  }

  // MARK: Records

  /// Throws `DecodingError` where the store is damaged.
  func record(_ row: CodedSample) throws -> DayFile.Record {
    let metric = metrics[Int(row.type)][Int(row.kind)]
    let kind = changes.kinds[Int(row.kind)]
    var (value, unit) = (Double(row.end.microseconds &- row.start.microseconds) / 1e6, "s")
    if kind == "quantity" {
      (value, unit) = metric.value(
        row.number ?? .nan, row.unit.map { changes.units[Int($0)] } ?? "", isCompatible: options.isCompatible)
    }
    var fields = Fields(
      uuid: row.uuid, start: row.start, end: row.end, metric: metric, type: changes.types[Int(row.type)], value: value,
      unit: unit, source: changes.sources[Int(row.source)])
    if fields.source == DeliveryShape.source { fields.aggregation = metric.kind == "cumulative" ? "sum" : "mean" }
    if kind == "category" { fields.category = row.number.flatMap(Int64.init(exactly:)) }
    if options.format != .csv, options.hasWholeSamples {
      fields.feed.append("{\"added\":")
      try printer.append(row, to: &fields.feed)
      fields.feed.append("}")
    }
    return record(fields)
  }

  /// `nil` in CSV, where a deleted sample is one that is not there.
  ///
  /// Throws `EncodingError` of what is no tombstone.
  func record(_ row: CodedTombstone) throws -> DayFile.Record? {
    guard options.format != .csv else { return nil }
    let metric = deletedMetrics[Int(row.type)]
    var fields = Fields(
      uuid: row.uuid, start: row.start, end: row.end ?? row.start, metric: metric, type: changes.types[Int(row.type)],
      value: 0, unit: metric.unit ?? "", source: Source(name: row.source.map { changes.sources[Int($0)].name } ?? ""))
    fields.deleted = row.deleted
    if options.hasWholeSamples {
      fields.feed.append("{\"deleted\":")
      fields.feed += try tombstones.encode(changes.tombstone(row))
      fields.feed.append("}")
    }
    return record(fields)
  }

  private struct Fields {
    var uuid: UUID
    var start: Timestamp
    var end: Timestamp
    var metric: HealthPushMetric
    var type: SampleType
    var value: Double
    var unit: String
    var source: Source
    var aggregation = "raw"
    var category: Int64?
    var deleted: Timestamp?
    /// Empty where it is not written.
    var feed: [UInt8] = []
  }

  private func record(_ fields: Fields) -> DayFile.Record {
    let bytes = options.format == .csv ? row(fields) : json(fields, isPretty: options.format == .json)
    return DayFile.Record(uuid: fields.uuid, start: fields.start, bytes: bytes[...])
  }

  private func json(_ fields: Fields, isPretty: Bool) -> [UInt8] {
    var writer = RecordWriter(isPretty: isPretty, capacity: fields.feed.count + 768)
    writer.object { record in
      record.member("aggregation", fields.aggregation)
      record.member("categoryValue", json: (fields.category.map { String($0) } ?? "null").utf8)
      record.member("deleted", json: (fields.deleted == nil ? "false" : "true").utf8)
      if let deleted = fields.deleted { record.member("deletedAt", Self.date(deleted)) }
      record.member("endDate", Self.date(fields.end))
      if !fields.feed.isEmpty { record.member("hpeer", json: fields.feed) }
      record.name("metric")
      record.object { metric in
        metric.member("hkIdentifier", fields.type.rawValue)
        metric.member("key", fields.metric.key)
        metric.member("kind", fields.metric.kind)
      }
      record.member("schemaVersion", "1.0")
      record.name("source")
      record.object { source in
        source.member("bundleId", fields.source.bundleIdentifier ?? "")
        source.member("name", fields.source.name)
      }
      record.member("startDate", Self.date(fields.start))
      record.member("tzOffset", offset(at: fields.start))
      record.member("unit", fields.unit)
      record.member("uuid", fields.uuid.uuidString)
      record.member("value", fields.value)
    }
    return writer.bytes
  }

  private func row(_ fields: Fields) -> [UInt8] {
    let columns = [
      fields.uuid.uuidString, Self.date(fields.start), Self.date(fields.end), offset(at: fields.start),
      fields.value.isFinite ? "\(fields.value)" : "", fields.unit, fields.aggregation, fields.source.name,
      fields.source.bundleIdentifier ?? "", "1.0",
    ]
    return Array(columns.map(Self.quoted).joined(separator: ",").utf8)
  }

  private static func quoted(_ field: String) -> String {
    guard field.utf8.contains(where: { ",\"\n\r".utf8.contains($0) }) else { return field }
    return "\"" + field.replacingOccurrences(of: "\"", with: "\"\"") + "\""
  }

  // MARK: Texts

  /// `2024-06-15T10:30:00.000Z`: always with milliseconds, which HealthPush wants.
  static func date(_ instant: Timestamp) -> String {
    // The millisecond before the first microsecond of all is no instant.
    let instant = max(instant, Timestamp(microseconds: .min + 1_000))
    let milliseconds = instant.civil.microsecond / 1_000
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    instant.append(to: &bytes)
    if let end = bytes.firstIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "Z") }) {
      bytes.removeSubrange(end...)
    }
    bytes.append(UInt8(ascii: "."))
    bytes.append(contentsOf: String(milliseconds + 1_000).utf8.dropFirst())
    bytes.append(UInt8(ascii: "Z"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// `+02:00`: what clocks at home showed then.
  private func offset(at instant: Timestamp) -> String {
    let minutes = zone.offset(at: instant.seconds) / 60
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    return "\(minutes < 0 ? "-" : "+")\(two(abs(minutes) / 60)):\(two(abs(minutes) % 60))"
  }
}
