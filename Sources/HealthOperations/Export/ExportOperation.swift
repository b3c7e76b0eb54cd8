import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// An operation that writes samples of a store to a file or stream, in constant memory.
///
/// ```swift
/// func export(_ store: HealthStore, to path: String) async throws {
///   let operation = ExportOperation(.json, to: .file(path: path, replaces: false))
///   let summary = try await operation.run(from: store)
///   print(summary.written, "samples")
/// }
/// ```
///
/// The audit log records the export before the first sample is read. If it cannot be recorded, the export fails,
/// unless the store is read-only and can have no log entries at all. A cancelled export leaves no file behind.
public struct ExportOperation: Sendable {
  public let format: ExportFormat
  /// The destination, which is not touched before ``run(from:)``.
  public let destination: ExportDestination
  /// The filter for the exported samples.
  public let filter: SampleFilter
  private let compression: FileCompression?
  private let options: ExportOptions
  private let progress: any ProgressObserver

  /// Creates the operation.
  ///
  /// - Parameters:
  ///   - filter: by default, all samples, including those of unknown types.
  ///   - compression: compresses each file, or the stream; not supported if the format is no stream
  ///     (``ExportFormat/isStream``).
  ///   - options: options that the format does not support are ignored.
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

  /// Runs the export. Throws ``ExportError``, ``StoreError``, or the stream's errors.
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

  /// Records the start of the export. If that fails, no sample is read.
  private func recordStart(in store: HealthStore) async throws {
    if !store.isReadOnly { try await store.audit.record(AuditEvent(.exportStarted, detail)) }
  }

  /// The filter, narrowed to the subject of a format that has one. Other types then do not count as omitted.
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

/// The outcome of an export.
public struct ExportSummary: Hashable, Sendable {
  /// The number of samples in the file, in any form, or in its statistics; without those in ``omitted``.
  public var written = 0
  /// The number of tombstones in the file.
  public var deletions = 0
  /// The number of samples of each type that the format cannot hold.
  public var omitted: [SampleType: Int] = [:]
  /// Routes in workouts, in Apple's formats, ``ExportFormat/healthAutoExport`` and ``ExportFormat/sqlite``.
  public var routes = 0
  /// The number of rows in ``ExportFormat/statisticsCSV`` and ``ExportFormat/statisticsJSON``.
  public var rows = 0
  /// Route points in ``ExportFormat/gpx``, ``ExportFormat/healthAutoExport`` and ``ExportFormat/sqlite``.
  public var points = 0
  /// The number of samples that are written only in part. ``ExportFormat/appleXML`` lacks what Apple keeps in files
  /// beside the XML; ``ExportFormat/appleArchive`` lacks attachments without a name, and points with invalid
  /// coordinates.
  public var partial = 0
  /// The number of files created in a folder.
  public var files = 0
  /// Whether the audit log records the export. It does not if the store is read-only.
  public var isAudited = true
}

extension ExportSummary {
  /// Whether a file has no content.
  var isEmpty: Bool { written == 0 && deletions == 0 }

  /// Adds the counts of another file.
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
