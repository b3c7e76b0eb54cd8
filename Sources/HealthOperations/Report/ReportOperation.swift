import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import OperatingSystem

/// An operation that writes a report for a doctor: a summary of some days on two pages, as one self-contained file.
///
/// ```swift
/// func report(_ store: HealthStore, to path: String) async throws {
///   let zone = try ZoneRules(named: "Europe/Berlin")
///   let operation = ReportOperation(days: 19_800...19_889, in: zone, to: .file(path: path, replaces: false))
///   print(try await operation.run(from: store).isAudited)
/// }
/// ```
///
/// The audit log records the report before the first sample is read, as for an export (``ExportOperation``).
public struct ReportOperation: Sendable {
  /// The maximum number of days.
  public static let mostDays = 3_700

  /// The days, counted since 1970-01-01; at most ``mostDays``.
  public let days: ClosedRange<Int>
  public let zone: ZoneRules
  public let destination: ExportDestination
  public let format: Format
  private let sources: Set<String>?
  private let unit: @Sendable (SampleType, String) -> String

  /// A file format for reports.
  public enum Format: String, CaseIterable, Sendable {
    /// A page for a browser and for printing.
    case html
    /// A PDF of the same page, made with WeasyPrint, Chromium or Chrome, whichever is installed.
    case pdf
  }

  /// The outcome of a report.
  public struct Summary: Hashable, Sendable {
    /// Whether the audit log records the report. It does not if the store is read-only.
    public var isAudited: Bool
  }

  /// Creates the operation.
  ///
  /// - Parameters:
  ///   - format: the file format.
  ///   - sources: the names of the sources to include; `nil` for all.
  ///   - unit: returns the unit for a type, given the unit of its statistics.
  public init(
    days: ClosedRange<Int>, in zone: ZoneRules, to destination: ExportDestination, as format: Format = .html,
    from sources: Set<String>? = nil,
    unit: @escaping @Sendable (_ type: SampleType, _ own: String) -> String = { $1 }
  ) {
    (self.days, self.zone, self.destination, self.format) = (days, zone, destination, format)
    (self.sources, self.unit) = (sources, unit)
  }

  /// Writes the report. Throws ``ExportError`` for the file, ``ReportIsEmpty``, ``ReportPrinterError``,
  /// ``StoreError``, ``StatisticsError``, or the stream's errors.
  public func run(from store: HealthStore) async throws -> Summary {
    let printer = format == .pdf ? ReportPrinter.installed : nil
    guard format != .pdf || printer != nil else { throw ReportPrinterError.noProgram }
    let sink: any ExportSink =
      switch destination {
      case .file(let path, let replaces): try OutputFile(path: path, replaces: replaces)
      case .stream(let sink): sink
      case .folder(let path, _, _): throw ExportError.isFolder(path: path)
      }
    do {
      if !store.isReadOnly { try await store.audit.record(AuditEvent(.exportStarted, detail)) }
      let reader = ReportReader(store: store, zone: zone, days: days, sources: sources, unit: unit)
      let content = try await reader.content(made: .now)
      // An empty report must not replace a good file.
      if content.isEmpty, case .file = destination { throw ReportIsEmpty(recorded: content.recorded) }
      let page = Array(ReportPage(content: content).html().utf8)
      let bytes = try await printer?.print(page, workingIn: room(of: store)) ?? page
      try await onThread { _ in
        try sink.write(bytes)
        try sink.finish()
      }
      if !store.isReadOnly { try await store.audit.record(AuditEvent(.exported, detail)) }
      return Summary(isAudited: !store.isReadOnly)
    } catch {
      sink.discard()
      throw error
    }
  }

  /// Returns a folder for the printer's temporary files.
  private func room(of store: HealthStore) -> String {
    if !store.isReadOnly { return store.directory }
    return if case .file(let path, _) = destination {
      URL(fileURLWithPath: path).deletingLastPathComponent().path
    } else {
      FileManager.default.temporaryDirectory.path
    }
  }

  private var detail: [String: String] {
    var detail = ["format": "report"]
    detail["file"] =
      switch destination {
      case .file(let path, _), .folder(let path, _, _): URL(fileURLWithPath: path).lastPathComponent
      case .stream: "-"
      }
    detail["from"] = Timestamp(seconds: zone.start(ofDay: days.lowerBound)).iso8601
    detail["to"] = Timestamp(seconds: zone.start(ofDay: days.upperBound + 1)).iso8601
    detail["sources"] = SampleFilter(sources: sources).sourceList
    return detail
  }
}

/// An error for a report without data in its days. No file was written.
public struct ReportIsEmpty: Error {
  /// The time range of all samples; `nil` if the record is empty.
  public let recorded: ClosedRange<Timestamp>?
}
