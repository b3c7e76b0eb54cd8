import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel

/// The properties that records with the same template share, as indices into a batch's ``CodedChanges``.
struct RecordShape: Hashable, Sendable {
  let type: UInt32
  /// The kind of payload; `nil` for a deleted sample.
  let kind: UInt32?
  let source: UInt32?
  let unit: UInt32?

  init(_ row: CodedSample) { (type, kind, source, unit) = (row.type, row.kind, row.source, row.unit) }

  init(_ row: CodedTombstone) { (type, kind, source, unit) = (row.type, nil, row.source, nil) }
}

/// An encoder for the records of HealthPush's files, from a batch in the encoding of the store.
///
/// A record has HealthPush's members, and in JSON also `hpeer` with the change feed's line
/// (`{"added":SAMPLE}` or `{"deleted":TOMBSTONE}`). HealthPush ignores that member; it contains the whole sample.
/// The value of a sample that is no quantity is its duration in seconds, as HealthPush does for sleep.
final class RecordCoder: Sendable {
  private let changes: CodedChanges
  private let options: DayFiles.Options
  private let zone: ZoneRules
  private let printer: SamplePrinter
  private let forms: [CodedForm]
  private let metrics: [[HealthPushMetric]]
  private let deletedMetrics: [HealthPushMetric]
  private let tombstones = JSONEncoder()

  /// Creates an encoder. Throws `DecodingError` if the store is damaged.
  init(_ changes: CodedChanges, _ options: DayFiles.Options, zone: ZoneRules) throws {
    (self.changes, self.options, self.zone) = (changes, options, zone)
    printer = try SamplePrinter(changes)
    forms = changes.kinds.map(CodedForm.init(kind:))
    metrics = changes.types.map { type in changes.kinds.map { HealthPushMetric(type, payload: $0) } }
    deletedMetrics = changes.types.map { HealthPushMetric($0, payload: nil) }
    tombstones.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  var format: DayFileFormat { options.format }

  // MARK: Places

  /// Returns the file that a sample is in.
  func place(of row: CodedSample) -> DayFiles.Place {
    DayFiles.Place(key: metric(of: row).key, day: day(of: row.start))
  }

  /// Returns the file that a deleted sample was in.
  func place(of row: CodedTombstone) -> DayFiles.Place {
    DayFiles.Place(key: deletedMetrics[Int(row.type)].key, day: day(of: row.start))
  }

  private func day(of start: Timestamp) -> Int { zone.dayNumber(at: start.seconds) }

  private func metric(of row: CodedSample) -> HealthPushMetric { metrics[Int(row.type)][Int(row.kind)] }

  // MARK: Records

  /// Returns a writer for records of this batch.
  func writer() -> RecordWriter { RecordWriter(self) }

  /// Returns the bytes that records with these properties share.
  func template(of shape: RecordShape) -> RecordTemplate {
    var constants = RecordTemplate.Constants(
      type: changes.types[Int(shape.type)], metric: deletedMetrics[Int(shape.type)],
      source: Source(name: shape.source.map { changes.sources[Int($0)].name } ?? ""), unit: "", aggregation: "raw",
      isDeleted: shape.kind == nil)
    if let kind = shape.kind, let source = shape.source {
      constants.metric = metrics[Int(shape.type)][Int(kind)]
      constants.source = changes.sources[Int(source)]
      constants.unit = forms[Int(kind)] == .quantity ? converted(0, constants.metric, shape.unit).unit : "s"
      // Samples of this source are hourly or daily statistics.
      if constants.source == DeliveryShape.source {
        constants.aggregation = constants.metric.kind == "cumulative" ? "sum" : "mean"
      }
    } else {
      constants.unit = constants.metric.unit ?? ""
    }
    return switch options.format {
    case .csv: .row(constants)
    case .json: .object(constants, isPretty: true, hasChange: options.hasWholeSamples)
    case .ndjson: .object(constants, isPretty: false, hasChange: options.hasWholeSamples)
    }
  }

  /// Returns a quantity in the unit of its metric, or the duration in seconds of any other sample.
  func value(of row: CodedSample) -> Double {
    guard forms[Int(row.kind)] == .quantity else {
      return Double(row.end.microseconds &- row.start.microseconds) / 1e6
    }
    return converted(row.number ?? .nan, metric(of: row), row.unit).value
  }

  private func converted(_ value: Double, _ metric: HealthPushMetric, _ unit: UInt32?) -> (value: Double, unit: String)
  {
    metric.value(value, unit.map { changes.units[Int($0)] } ?? "", isCompatible: options.isCompatible)
  }

  /// Returns the value of a category sample, or `nil` for other samples and for a value that is no whole number.
  func category(of row: CodedSample) -> Int64? {
    forms[Int(row.kind)] == .category ? row.number.flatMap(Int64.init(exactly:)) : nil
  }

  /// Returns the UTC offset of the home time zone at an instant, in seconds east of UTC.
  func offset(at instant: Timestamp) -> Int { zone.offset(at: instant.seconds) }

  /// Appends a sample as a line of the change feed. Throws `DecodingError` if the store is damaged.
  func append(_ row: CodedSample, to bytes: inout [UInt8]) throws {
    bytes.append("{\"added\":")
    try printer.append(row, to: &bytes)
    bytes.append("}")
  }

  /// Appends a tombstone as a line of the change feed. Throws `EncodingError` if it cannot be encoded.
  func append(_ row: CodedTombstone, to bytes: inout [UInt8]) throws {
    bytes.append("{\"deleted\":")
    bytes += try tombstones.encode(changes.tombstone(row))
    bytes.append("}")
  }
}
