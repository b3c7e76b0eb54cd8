import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import Terminal

/// The result of an import: a table by type, then what was left out and why, then one line.
struct ImportPresentation {
  let result: ImportResult
  let isDryRun: Bool
  let duration: Duration
  let zone: ZoneOptions

  func print(json: Bool) throws {
    if json { return try Console.print(json: ImportSummaryObject(result, isDryRun: isDryRun, duration: duration)) }
    printExports()
    if let earlier = result.earlier {
      let (what, them) =
        result.exports.isEmpty ? ("this very file was", "it") : ("these very exports were", "them")
      return try Console.print(
        "0 samples added: \(what) imported on \(zone.seconds(earlier.finished ?? earlier.started)), as "
          + "\(PlainText.escaped(earlier.name, limit: 100)); --rescan reads \(them) again")
    }
    try printTable()
    printFindings()
    try Console.print(lastLine)
    if let line = snapshotLine { Console.say(line) }
    if result.summary.refused > 0 {
      Console.say(
        "What is deleted here stays deleted; `hpeer undelete --types TYPE --from DATE --to DATE` with this file brings it "
          + "back.")
    }
  }

  private var entries: [(type: SampleType, counts: WriteSummary.Counts)] {
    result.summary.types.map { (type: $0.key, counts: $0.value) }
      .sorted { (-$0.counts.sum, $0.type.rawValue) < (-$1.counts.sum, $1.type.rawValue) }
  }

  private func printTable() throws {
    let entries = entries
    if entries.isEmpty { return }
    let deletes = entries.contains { $0.counts.deleted > 0 }
    let refuses = entries.contains { $0.counts.refused > 0 }
    var columns: [Table.Column] = [.init("TYPE"), .init("ADDED", .trailing), .init("ALREADY HERE", .trailing)]
    if refuses { columns.append(.init("DELETED HERE", .trailing)) }
    if deletes { columns.append(.init("DELETED", .trailing)) }
    var table = Table(columns: columns)
    for (type, counts) in entries {
      var cells: [Table.Cell] = [
        .init(type.shortName), .init(HumanFormat.count(counts.added)), .init(HumanFormat.count(counts.unchanged)),
      ]
      if refuses { cells.append(.init(HumanFormat.count(counts.refused))) }
      if deletes { cells.append(.init(HumanFormat.count(counts.deleted))) }
      table.append(cells)
    }
    try Console.print(table)
  }

  private func printExports() {
    if result.exports.isEmpty { return }
    let exports = result.exports.map { export in
      PlainText.escaped(export.place, limit: 100) + (export.exported.map { " of \(zone.seconds($0))" } ?? "")
    }
    Console.say("\(exports.count) exports, read in this order: \(exports.joined(separator: ", "))")
  }

  private func printFindings() {
    for (title, findings) in [("Not imported", result.report.skipped), ("Noticed", result.report.remarks)] {
      for (name, finding) in findings.sorted(by: { $0.key < $1.key }) {
        Console.say("\(title): \(PlainText.escaped(name, limit: 100)) (\(Self.places(finding)))")
      }
    }
  }

  /// Returns the number and the lines of a finding: `12; lines 3, 4, 5, 6, 7, ...`.
  private static func places(_ finding: ImportReport.Finding) -> String {
    let count = HumanFormat.count(finding.count)
    if finding.lines.isEmpty { return count }
    let lines = finding.lines.map(String.init).joined(separator: ", ")
    let more = finding.count > finding.lines.count ? ", ..." : ""
    return "\(count); \(finding.lines.count == 1 ? "line" : "lines") \(lines)\(more)"
  }

  private var lastLine: String {
    let added = HumanFormat.count(result.summary.added, "sample")
    let unchanged = HumanFormat.count(result.summary.unchanged)
    let deleted = HumanFormat.count(result.summary.deleted)
    let here = "\(unchanged) already here" + (result.summary.refused > 0 ? ", \(refusal)" : "")
    if isDryRun {
      return "Would add \(added) and delete \(deleted), and find \(here); nothing was changed"
    }
    let line = "\(added) added, \(here)"
    let deletion = result.summary.deleted > 0 ? ", \(deleted) \(result.snapshot == .done ? "deleted" : "replaced")" : ""
    return "\(line)\(deletion), in \(HumanFormat.duration(duration))"
  }

  private var refusal: String {
    "\(HumanFormat.count(result.summary.refused)) deleted here\(isDryRun ? "" : ", not added again")"
  }

  private var snapshotLine: String? {
    switch result.snapshot {
    case nil:
      result.missing.total == 0
        ? nil
        : "\(result.missing.count) not in this one; "
          + "`hpeer import --snapshot --dry-run` with this file shows what would be deleted."
    case .done: nil
    case .refused: isDryRun ? "Nothing would be deleted without --force, because \(result.missing.explanation)." : nil
    case .notNewer(let date):
      "Nothing \(isDryRun ? "would be" : "was") deleted: this export is older than that of "
        + "\(zone.seconds(date)), which is here already."
    case .incomplete: "Nothing \(isDryRun ? "would be" : "was") deleted: this export is not whole."
    case .undated: "Nothing \(isDryRun ? "would be" : "was") deleted: this export does not say when it was made."
    }
  }
}

extension WriteSummary.Counts {
  fileprivate var sum: Int { added + deleted + unchanged + refused }
}

extension MissingSamples {
  /// The number of missing samples: `1 sample of earlier exports is`, `2 samples of earlier exports are`.
  fileprivate var count: String {
    "\(HumanFormat.count(total, "sample")) of earlier exports \(total == 1 ? "is" : "are")"
  }

  /// The reason for a refusal; follows "because".
  var explanation: String {
    let whole = wholeTypes
    let count = "\(count) missing in this one"
    if whole.isEmpty { return "\(count), \(Int((share * 100).rounded(.up))) % of them" }
    return "\(count), among them all of \(whole.prefix(3).map(\.shortName).joined(separator: ", "))"
      + (whole.count > 3 ? " and \(HumanFormat.count(whole.count - 3, "other type"))" : "")
  }
}

extension ImportReport {
  /// The place where a file ends early; follows "The file ends in the middle".
  var whereItEnds: String {
    let line = end.map { " of line \(HumanFormat.count($0.line))" } ?? ""
    let sample = last.map { ", after \($0.type.shortName) of \(Timestamp(seconds: $0.start.seconds).iso8601)" } ?? ""
    return line + sample
  }
}

/// The output of `hpeer import --json`.
struct ImportSummaryObject: Encodable {
  struct Entry: Encodable {
    var type: String
    /// The number of samples in the file.
    var read: Int
    var added: Int
    var unchanged: Int
    /// The number of samples that are deleted here, and were not added again.
    var refused: Int
    var deleted: Int
    /// The number of samples in earlier exports that are not in this one. After a snapshot these are deleted.
    var missing: Int?
  }

  var added: Int
  var unchanged: Int
  /// The number of samples that are deleted here, and were not added again.
  var refused: Int
  var deleted: Int
  var seconds: Double
  var dryRun: Bool
  /// The time of an earlier import of the same bytes. In that case nothing was read.
  var importedBefore: Timestamp?
  /// The outcome of `--snapshot`; see ``SnapshotOutcome``.
  var snapshot: String?
  /// The types, those with the most samples first.
  var types: [Entry]
  /// The exports, the newest last, if a zip file or folder held several.
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
    // Only files that were read to their end are remembered.
    if result.earlier != nil { report.isComplete = true }
  }
}
