import Foundation
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
  /// One bundle of FHIR R4 resources, in JSON.
  case fhirBundle = "fhir"
  /// FHIR R4 resources in lines, as Bulk Data has them.
  case fhirLines = "fhir-ndjson"
}

/// Where an export goes.
public enum ExportDestination: Sendable {
  /// A file of mode 0600, which appears when it is whole.
  ///
  /// - Parameter replaces: whether a file that is there may be lost.
  case file(path: String, replaces: Bool)
  /// Bytes as they come, such as standard output.
  case stream(any ExportSink)
}

/// What an export did.
public struct ExportSummary: Hashable, Sendable {
  /// Samples that the file has, in whatever form; those of ``omitted`` are not counted.
  public var written = 0
  /// Tombstones that the file has.
  public var deletions = 0
  /// Samples that the format has no place for, by type.
  public var omitted: [SampleType: Int] = [:]
  /// Routes in an Apple export's workouts.
  public var routes = 0
  /// Points of ``ExportFormat/gpx``.
  public var points = 0
  /// Samples of which Apple's export keeps a part in files beside the XML.
  public var partial = 0
  /// Whether the audit log has it: that of a store that cannot be written has not.
  public var isAudited = true
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
  private let offset: Int
  private let defusesFormulas: Bool
  private let fhir: FHIROptions
  private let progress: any ProgressObserver

  /// - Parameters:
  ///   - filter: without it, all samples, of types that nobody knows yet, too.
  ///   - offset: from UTC, in seconds, of all dates of ``ExportFormat/appleXML``; the others say each sample's own.
  ///   - defusesFormulas: of ``ExportFormat/transferCSV``: no text begins as a spreadsheet's formulas do.
  ///   - fhir: of ``ExportFormat/fhirBundle`` and ``ExportFormat/fhirLines``.
  public init(
    _ format: ExportFormat, to destination: ExportDestination, filter: SampleFilter = .everything,
    offset: Int = 0, defusesFormulas: Bool = false, fhir: FHIROptions = FHIROptions(),
    progress: any ProgressObserver = NoProgress()
  ) {
    self.format = format
    self.destination = destination
    self.filter = filter
    self.offset = offset
    self.defusesFormulas = defusesFormulas
    self.fhir = fhir
    self.progress = progress
  }

  /// Throws ``ExportError`` for the file, ``StoreError``, or what the stream does.
  public func run(from store: HealthStore) async throws -> ExportSummary {
    let reader = StoredSampleReader(store: store, filter: scope)
    let plan = try await reader.plan()
    let stage = progress.begin(ProgressStage(.exporting, totalItems: plan.samples))
    defer { stage.finish() }
    let exporting = Exporting(reader: reader, plan: plan, sink: try sink(), stage: stage)
    if !store.isReadOnly { try await store.audit.record(AuditEvent(.exportStarted, detail)) }
    let now = Timestamp.now
    var summary =
      switch format {
      case .json: try await exporting.run(SampleJSONWriter(exported: now))
      case .csv: try await exporting.run(SampleCSVWriter())
      case .ndjson: try await exporting.run(ChangeFeedWriter())
      case .transferJSON1: try await exporting.run(selective: transfer(.json1, now))
      case .transferJSON2: try await exporting.run(selective: transfer(.json2, now))
      case .transferCSV: try await exporting.run(selective: transfer(.csv, now))
      case .gpx: try await exporting.run(GPXWriter(exported: now), withHeartRates: filter.passes(Exporting.heartRate))
      case .calendar: try await exporting.run(selective: WorkoutCalendarWriter())
      case .fhirBundle: try await exporting.run(fhir.writer(.bundle, exported: now, of: store))
      case .fhirLines: try await exporting.run(fhir.writer(.lines, exported: now, of: store))
      case .appleXML: try await exporting.run(AppleExportWriter(exportDate: now, offset: offset))
      }
    summary.isAudited = !store.isReadOnly
    if summary.isAudited {
      let event = AuditEvent(.exported, detail.merging(["count": String(summary.written)]) { $1 })
      try await uncancelled { try await store.audit.record(event) }
    }
    return summary
  }

  /// Of formats that are about some types only, these: the others are not missing in them.
  private var scope: SampleFilter {
    var scope = filter
    switch format {
    case .gpx:
      // Who names workouts means their routes.
      scope.types = filter.passes(.workout) || filter.passes(.workoutRoute) ? [.workoutRoute] : []
    case .calendar: scope.types = filter.passes(.workout) ? [.workout] : []
    case .json, .ndjson, .csv, .appleXML, .transferJSON1, .transferJSON2, .transferCSV, .fhirBundle, .fhirLines: break
    }
    return scope
  }

  private func transfer(_ form: HealthAppTransferWriter.Form, _ now: Timestamp) -> HealthAppTransferWriter {
    HealthAppTransferWriter(
      form, exported: now, range: (filter.earliest, filter.end), defusesFormulas: defusesFormulas)
  }

  private func sink() throws -> any ExportSink {
    switch destination {
    case .file(let path, let replaces): try OutputFile(path: path, replaces: replaces)
    case .stream(let sink): sink
    }
  }

  private var detail: [String: String] {
    var detail = ["format": format.rawValue]
    detail["file"] =
      switch destination {
      case .file(let path, _): URL(fileURLWithPath: path).lastPathComponent
      case .stream: "-"
      }
    detail["types"] = filter.types?.map(\.shortName).sorted().joined(separator: ",")
    detail["from"] = filter.earliest?.iso8601
    detail["to"] = filter.end?.iso8601
    detail["sources"] = filter.sourceList
    return detail
  }
}
