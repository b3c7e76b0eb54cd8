import HealthFormats
import HealthModel
import HealthOperations
import HealthStore

/// What `hpeer import --json` prints.
struct ImportSummaryObject: Encodable {
  struct Entry: Encodable {
    var type: String
    /// In the file.
    var read: Int
    var added: Int
    var unchanged: Int
    /// Deleted here, and not added again.
    var refused: Int
    var deleted: Int
    /// In earlier exports and not in this one; after a snapshot these are deleted.
    var missing: Int?
  }

  var added: Int
  var unchanged: Int
  /// Deleted here, and not added again.
  var refused: Int
  var deleted: Int
  var seconds: Double
  var dryRun: Bool
  /// When the same bytes were imported before, because of which nothing was read.
  var importedBefore: Timestamp?
  /// See ``SnapshotOutcome``.
  var snapshot: String?
  /// By how many samples they are, the most first.
  var types: [Entry]
  /// Where a zip file or folder held several exports: these, the newest last.
  var exports: [ImportResult.Export]?
  var report: ImportReport

  init(_ result: ImportResult, isDryRun: Bool, duration: Duration) {
    let total = result.summary.total
    (added, unchanged, refused, deleted) = (total.added, total.unchanged, total.refused, total.deleted)
    seconds = duration.reportedSeconds
    dryRun = isDryRun
    importedBefore = result.earlier.map { $0.finished ?? $0.started }
    snapshot = result.snapshot?.name
    let all = Set(result.read.keys).union(result.summary.types.keys).union(result.missing.counts.keys)
    types = all.map { type in
      let counts = result.summary.types[type] ?? .init()
      return Entry(
        type: type.rawValue, read: result.read[type] ?? 0, added: counts.added, unchanged: counts.unchanged,
        refused: counts.refused, deleted: counts.deleted, missing: result.missing.counts[type])
    }.sorted { ($1.read, $0.type) < ($0.read, $1.type) }
    exports = result.exports.isEmpty ? nil : result.exports
    report = result.report
    // Only of a whole file it is remembered that it was read.
    if result.earlier != nil { report.isComplete = true }
  }
}
