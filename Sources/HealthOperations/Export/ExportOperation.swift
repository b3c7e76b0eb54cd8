import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

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
  private let options: ExportOptions
  private let progress: any ProgressObserver

  /// - Parameters:
  ///   - filter: without it, all samples, of types that nobody knows yet, too.
  ///   - compression: of each file as a whole, or of the stream; never of a format that is no stream
  ///     (``ExportFormat/isStream``).
  ///   - options: those that the format does not have are passed over.
  public init(
    _ format: ExportFormat, to destination: ExportDestination, filter: SampleFilter = .everything,
    compression: FileCompression? = nil, options: ExportOptions = ExportOptions(),
    progress: any ProgressObserver = NoProgress()
  ) {
    self.format = format
    self.destination = destination
    self.filter = filter
    self.compression = compression
    self.options = options
    self.progress = progress
  }

  /// Throws ``ExportError`` for the file, ``StoreError``, or what the stream does.
  public func run(from store: HealthStore) async throws -> ExportSummary {
    let reader = StoredSampleReader(store: store, filter: scope)
    let plan = try await reader.plan()
    let stage = progress.begin(ProgressStage(.exporting, totalItems: plan.samples))
    defer { stage.finish() }
    if !format.isStream {
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
    return try await format.write(exporting, content(exported: .now))
  }

  private func write(
    _ reader: StoredSampleReader, _ plan: StoredSampleReader.Plan, divided split: ExportSplit,
    into folder: OutputFolder, _ stage: any StageObserver
  ) async throws -> ExportSummary {
    do {
      try await recordStart(in: reader.store)
      let content = content(exported: .now)
      let suffix = ([format.suffix] + (compression.map { [$0.rawValue] } ?? [])).joined(separator: ".")
      var summary = ExportSummary()
      for part in try await ExportParts(reader, plan, isFeed: format.isFeed).divided(split) {
        let file = try folder.file("\(part.name).\(suffix)")
        let exporting = Exporting(
          reader: part.reader, plan: part.plan, output: output(file), stage: stage, keepsEmpty: false)
        summary.add(try await format.write(exporting, content))
      }
      summary.files = try await onThread { _ in try folder.finish() }
      return summary
    } catch {
      await onThread { _ in folder.discard() }
      throw error
    }
  }

  private func content(exported: Timestamp) -> ExportContent {
    ExportContent(filter: filter, options: options, exported: exported)
  }

  private func output(_ sink: any ExportSink) -> OutputQueue {
    OutputQueue(compression.map { CompressedSink(sink, $0) } ?? sink)
  }

  /// First, so that an access which the log cannot hold does not happen.
  private func recordStart(in store: HealthStore) async throws {
    if !store.isReadOnly { try await store.audit.record(AuditEvent(.exportStarted, detail)) }
  }

  /// Of a format that is about some types only, these: the others are not missing in it.
  private var scope: SampleFilter {
    var scope = filter
    if let subject = format.subject { scope.types = subject.written(from: filter) }
    return scope
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

/// What an export did.
public struct ExportSummary: Hashable, Sendable {
  /// Samples that the file has, in whatever form, or that its numbers are made of; those of ``omitted`` are not counted.
  public var written = 0
  /// Tombstones that the file has.
  public var deletions = 0
  /// Samples that the format has no place for, by type.
  public var omitted: [SampleType: Int] = [:]
  /// Routes in workouts, of Apple's formats, ``ExportFormat/healthAutoExport`` and ``ExportFormat/sqlite``.
  public var routes = 0
  /// Rows of ``ExportFormat/statisticsCSV`` and ``ExportFormat/statisticsJSON``.
  public var rows = 0
  /// Points of routes, in ``ExportFormat/gpx``, ``ExportFormat/healthAutoExport`` and ``ExportFormat/sqlite``.
  public var points = 0
  /// Samples of which a part is not written: of ``ExportFormat/appleXML``, what Apple's export keeps in files beside the XML; of
  /// ``ExportFormat/appleArchive``, attachments without a name, and points that are nowhere on Earth.
  public var partial = 0
  /// Files that were made of it in a folder.
  public var files = 0
  /// Whether the audit log has it: that of a store that cannot be written has not.
  public var isAudited = true
}

extension ExportSummary {
  /// Whether a file has nothing in it.
  var isEmpty: Bool { written == 0 && deletions == 0 }

  /// Adds what another file has.
  mutating func add(_ other: ExportSummary) {
    written += other.written
    deletions += other.deletions
    omitted.merge(other.omitted, uniquingKeysWith: +)
    routes += other.routes
    rows += other.rows
    points += other.points
    partial += other.partial
  }
}
