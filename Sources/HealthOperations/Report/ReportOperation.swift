import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import OperatingSystem

/// Writes a report for a doctor: what a record says of some days on two pages, as one file that needs nothing else.
///
/// ```swift
/// func report(_ store: HealthStore, to path: String) async throws {
///   let zone = try ZoneRules(named: "Europe/Berlin")
///   let operation = ReportOperation(days: 19_800...19_889, in: zone, to: .file(path: path, replaces: false))
///   print(try await operation.run(from: store).isAudited)
/// }
/// ```
///
/// The audit log has it before the first sample is read, as it has an export (``ExportOperation``).
public struct ReportOperation: Sendable {
  /// More are no report.
  public static let mostDays = 3_700

  /// Days since 1970-01-01, whole ones; no more than ``mostDays``.
  public let days: ClosedRange<Int>
  public let zone: ZoneRules
  public let destination: ExportDestination
  public let format: Format
  private let sources: Set<String>?
  private let unit: @Sendable (SampleType, String) -> String

  /// What kind of file a report is.
  public enum Format: String, CaseIterable, Sendable {
    /// A page to be read in a browser and printed.
    case html
    /// The same, printed by WeasyPrint or Chromium, whichever is installed.
    case pdf
  }

  /// What a report has.
  public struct Summary: Hashable, Sendable {
    /// Whether the audit log has it: that of a store that cannot be written has not.
    public var isAudited: Bool
  }

  /// - Parameters:
  ///   - format: of the file.
  ///   - sources: the names of sources; `nil` for all.
  ///   - unit: in which unit numbers of a type are to be written that come in another.
  public init(
    days: ClosedRange<Int>, in zone: ZoneRules, to destination: ExportDestination, as format: Format = .html,
    from sources: Set<String>? = nil,
    unit: @escaping @Sendable (_ type: SampleType, _ own: String) -> String = { $1 }
  ) {
    (self.days, self.zone, self.destination, self.format) = (days, zone, destination, format)
    (self.sources, self.unit) = (sources, unit)
  }

  /// Throws ``ExportError`` for the file, ``ReportPrinterError``, ``StoreError``, ``StatisticsError``, or what the stream
  /// does.
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
      // An empty page would keep the place of the right one.
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

  /// A folder for the time that printing takes.
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

/// There is nothing that a report shows in its time; no file was written.
public struct ReportIsEmpty: Error {
  /// The time of the record; `nil` of one without samples.
  public let recorded: ClosedRange<Timestamp>?
}
