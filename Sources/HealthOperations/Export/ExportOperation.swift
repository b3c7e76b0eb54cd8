import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// How samples are written to a file; the raw value is what people and the audit log call it.
public enum ExportFormat: String, Hashable, Sendable, CaseIterable {
  /// hpeer's own format, which it can import again, in JSON.
  case json
  /// The change feed in lines, which has all that the store holds: deletions, too, and what is hidden behind others.
  case ndjson
  /// hpeer's own format in CSV (RFC 4180).
  case csv
  /// As the Health app writes it.
  case appleXML = "apple-xml"
  /// The same with the files beside it, zipped as the Health app shares it.
  case appleArchive = "apple-zip"
  /// JSON of the app HealthAppTransfer, version 1: an array of samples.
  case transferJSON1 = "hat-json-v1"
  /// Its version 2: samples by their types.
  case transferJSON2 = "hat-json-v2"
  /// Its table.
  case transferCSV = "hat-csv"
  /// Routes of workouts as tracks, with the heart rate (GPX 1.1).
  case gpx
  /// Workouts as events of a calendar (RFC 5545).
  case calendar = "ics"
  /// JSON of the app Health Auto Export, version 2, with a point for each sample.
  case healthAutoExport = "health-auto-export"
  /// Tables as the program healthkit-to-sqlite makes them of Apple's export.
  case sqlite
  /// Numbers of types by hours, days, weeks, months or years, as a table.
  case statisticsCSV = "statistics-csv"
  /// The same in JSON.
  case statisticsJSON = "statistics-json"
  /// One bundle of FHIR R4 resources, in JSON.
  case fhirBundle = "fhir"
  /// FHIR R4 resources in lines, as Bulk Data has them.
  case fhirLines = "fhir-ndjson"
}

extension ExportFormat {
  /// What a file is whose name ends so, without the dot and in lower case; `nil` where that says nothing.
  public init?(suffix: String) {
    switch suffix {
    case "jsonl": self = .ndjson
    case "sqlite", "sqlite3": self = .sqlite
    default:
      guard let format = Self.allCases.first(where: { $0.suffix == suffix }) else { return nil }
      self = format
    }
  }

  /// Of a file in it, without the dot.
  public var suffix: String {
    switch self {
    case .json, .transferJSON1, .transferJSON2, .healthAutoExport, .statisticsJSON, .fhirBundle: "json"
    case .csv, .transferCSV, .statisticsCSV: "csv"
    case .appleXML: "xml"
    case .appleArchive: "zip"
    case .sqlite: "db"
    case .fhirLines: "ndjson"
    case .ndjson, .gpx, .calendar: rawValue
    }
  }
}

/// Writes samples of a store to a file or stream, in constant memory.
///
/// ```swift
/// func export(_ store: HealthStore, to path: String) async throws {
///   let operation = ExportOperation(.json, to: .file(path: path, replaces: false))
///   let summary = try await operation.run(from: store)
///   print(summary.written, "samples")
/// }
/// ```
///
/// The audit log has the export before the first sample is read: an access that it cannot hold does not happen, unless
/// the store is read only and no log can be written there at all. Cancelled, nothing is left of a file.
public struct ExportOperation: Sendable {
  public let format: ExportFormat
  /// Not touched before ``run(from:)``.
  public let destination: ExportDestination
  /// Which samples are written.
  public let filter: SampleFilter
  private let compression: FileCompression?
  private let offset: Int
  private let defusesFormulas: Bool
  private let statistics: StatisticsForm?
  private let fhir: FHIROptions
  private let progress: any ProgressObserver

  /// - Parameters:
  ///   - filter: without it, all samples, of types that nobody knows yet, too.
  ///   - compression: of each file as a whole, or of the stream; never of ``ExportFormat/sqlite``.
  ///   - offset: from UTC, in seconds, of all dates of ``ExportFormat/appleXML``, ``ExportFormat/appleArchive``,
  ///     ``ExportFormat/healthAutoExport`` and ``ExportFormat/sqlite``; the others say each sample's own.
  ///   - statistics: what ``ExportFormat/statisticsCSV`` and ``ExportFormat/statisticsJSON`` hold; without it, days in UTC.
  ///   - defusesFormulas: of ``ExportFormat/transferCSV``: no text begins as a spreadsheet's formulas do.
  ///   - fhir: of ``ExportFormat/fhirBundle`` and ``ExportFormat/fhirLines``.
  public init(
    _ format: ExportFormat, to destination: ExportDestination, filter: SampleFilter = .everything,
    compression: FileCompression? = nil, offset: Int = 0, defusesFormulas: Bool = false,
    statistics: StatisticsForm? = nil,
    fhir: FHIROptions = FHIROptions(),
    progress: any ProgressObserver = NoProgress()
  ) {
    self.format = format
    self.destination = destination
    self.filter = filter
    self.compression = compression
    self.offset = offset
    self.defusesFormulas = defusesFormulas
    self.statistics = statistics
    self.fhir = fhir
    self.progress = progress
  }

  /// Throws ``ExportError`` for the file, ``StoreError``, or what the stream does.
  public func run(from store: HealthStore) async throws -> ExportSummary {
    let reader = StoredSampleReader(store: store, filter: scope)
    let plan = try await reader.plan()
    let stage = progress.begin(ProgressStage(.exporting, totalItems: plan.samples))
    defer { stage.finish() }
    if format == .sqlite {
      // SQLite writes it in whatever order.
      guard case .file = destination, compression == nil else { throw ExportError.needsFile(format) }
    }
    var summary: ExportSummary
    switch destination {
    case .file(let path, let replaces):
      let file = try OutputFile(path: path, replaces: replaces)
      summary = try await write(reader, plan, to: file, stage)
    case .stream(let sink): summary = try await write(reader, plan, to: sink, stage)
    case .folder(let path, let split, let replaces):
      let folder = try OutputFolder(path: path, replaces: replaces)
      summary = try await write(reader, plan, divided: split, into: folder, stage)
    }
    summary.isAudited = !store.isReadOnly
    if summary.isAudited {
      let event = AuditEvent(.exported, detail.merging(["count": String(summary.written)]) { $1 })
      try await uncancelled { try await store.audit.record(event) }
    }
    return summary
  }

  private func write(
    _ reader: StoredSampleReader, _ plan: StoredSampleReader.Plan, to sink: any ExportSink, _ stage: any StageObserver
  ) async throws -> ExportSummary {
    try await recordStart(in: reader.store)
    var exporting = Exporting(reader: reader, plan: plan, output: output(sink), stage: stage)
    exporting.file = sink as? OutputFile
    return try await write(exporting, .now)
  }

  private func write(
    _ reader: StoredSampleReader, _ plan: StoredSampleReader.Plan, divided split: ExportSplit,
    into folder: OutputFolder, _ stage: any StageObserver
  ) async throws -> ExportSummary {
    do {
      try await recordStart(in: reader.store)
      let now = Timestamp.now
      let suffix = ([format.suffix] + (compression.map { [$0.rawValue] } ?? [])).joined(separator: ".")
      var summary = ExportSummary()
      for part in try await ExportParts(reader, plan, isFeed: format == .ndjson).divided(split) {
        let file = try folder.file("\(part.name).\(suffix)")
        let exporting = Exporting(
          reader: part.reader, plan: part.plan, output: output(file), stage: stage, keepsEmpty: false)
        summary.add(try await write(exporting, now))
      }
      summary.files = try await onThread { _ in try folder.finish() }
      return summary
    } catch {
      await onThread { _ in folder.discard() }
      throw error
    }
  }

  /// Writes one file.
  private func write(_ exporting: Exporting, _ now: Timestamp) async throws -> ExportSummary {
    switch format {
    case .json: try await exporting.run(SampleJSONWriter(exported: now))
    case .csv: try await exporting.run(SampleCSVWriter())
    case .ndjson: try await exporting.run(ChangeFeedWriter())
    case .transferJSON1: try await exporting.run(selective: transfer(.json1, now))
    case .transferJSON2: try await exporting.run(selective: transfer(.json2, now))
    case .transferCSV: try await exporting.run(selective: transfer(.csv, now))
    case .gpx: try await exporting.run(GPXWriter(exported: now), withHeartRates: filter.passes(Exporting.heartRate))
    case .calendar: try await exporting.run(selective: WorkoutCalendarWriter())
    case .appleXML: try await exporting.run(AppleExportWriter(exportDate: now, offset: offset))
    case .appleArchive:
      try await exporting.run(
        archive: AppleExportWriter(exportDate: now, offset: offset), exported: now, offset: offset)
    case .fhirBundle: try await exporting.run(fhir.writer(.bundle, exported: now, of: exporting.reader.store))
    case .fhirLines: try await exporting.run(fhir.writer(.lines, exported: now, of: exporting.reader.store))
    case .healthAutoExport: try await exporting.run(HealthAutoExportWriter(offset: offset))
    case .sqlite: try await exporting.run(HealthKitTables(offset: offset))
    case .statisticsCSV, .statisticsJSON:
      try await exporting.run(statistics ?? .daysInUTC, isJSON: format == .statisticsJSON)
    }
  }

  private func output(_ sink: any ExportSink) -> OutputQueue {
    OutputQueue(compression.map { CompressedSink(sink, $0) } ?? sink)
  }

  /// First, so that an access which the log cannot hold does not happen.
  private func recordStart(in store: HealthStore) async throws {
    if !store.isReadOnly { try await store.audit.record(AuditEvent(.exportStarted, detail)) }
  }

  /// Of formats that are about some types only, these: the others are not missing in them.
  private var scope: SampleFilter {
    var scope = filter
    switch format {
    case .gpx:
      // Who names workouts means their routes.
      scope.types = filter.passes(.workout) || filter.passes(.workoutRoute) ? [.workoutRoute] : []
    case .calendar: scope.types = filter.passes(.workout) ? [.workout] : []
    case .json, .ndjson, .csv, .appleXML, .appleArchive, .transferJSON1, .transferJSON2, .transferCSV,
      .healthAutoExport, .sqlite, .statisticsCSV, .statisticsJSON, .fhirBundle, .fhirLines:
      break
    }
    return scope
  }

  private func transfer(_ form: HealthAppTransferWriter.Form, _ now: Timestamp) -> HealthAppTransferWriter {
    HealthAppTransferWriter(
      form, exported: now, range: (filter.earliest, filter.end), defusesFormulas: defusesFormulas)
  }

  private var detail: [String: String] {
    var detail = ["format": format.rawValue]
    detail["file"] =
      switch destination {
      case .file(let path, _), .folder(let path, _, _): URL(fileURLWithPath: path).lastPathComponent
      case .stream: "-"
      }
    if case .folder(_, let split, _) = destination { detail["split"] = split.name }
    detail["types"] = filter.types?.map(\.shortName).sorted().joined(separator: ",")
    detail["from"] = filter.earliest?.iso8601
    detail["to"] = filter.end?.iso8601
    detail["sources"] = filter.sourceList
    return detail
  }
}
