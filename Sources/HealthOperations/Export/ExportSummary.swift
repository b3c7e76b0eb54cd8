import HealthModel

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
