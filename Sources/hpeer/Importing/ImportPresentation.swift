import Foundation
import HealthFormats
import HealthModel
import Terminal

/// What an import says when it has ended: a table by type, then what was left out and why, then one line.
struct ImportPresentation {
  let result: ImportResult
  let duration: Duration

  private struct Report: Encodable {
    struct Entry: Encodable {
      var type: String
      var read: Int
      var added: Int
    }
    var added: Int
    var unchanged: Int
    var deleted: Int
    var seconds: Double
    var types: [Entry]
    var report: ImportReport
  }

  func print(json: Bool) throws {
    let entries = result.read.map {
      Report.Entry(type: $0.key.rawValue, read: $0.value, added: result.summary.types[$0.key]?.added ?? 0)
    }.sorted { ($1.read, $0.type) < ($0.read, $1.type) }
    if json {
      return try Console.print(
        json: Report(
          added: result.summary.added, unchanged: result.summary.unchanged, deleted: result.summary.deleted,
          seconds: duration.reportedSeconds, types: entries, report: result.report))
    }
    if !entries.isEmpty {
      var table = Table(columns: [.init("TYPE"), .init("READ", .trailing), .init("ADDED", .trailing)])
      for entry in entries {
        table.append([
          .init(SampleType(entry.type).shortName), .init(HumanFormat.count(entry.read)),
          .init(HumanFormat.count(entry.added)),
        ])
      }
      try Console.print(table)
    }
    for (title, findings) in [("Not imported", result.report.skipped), ("Noticed", result.report.remarks)] {
      for (name, finding) in findings.sorted(by: { $0.key < $1.key }) {
        let lines = finding.lines.map(String.init).joined(separator: ", ")
        Console.say(
          "\(title): \(PlainText.escaped(name, limit: 100)) (\(HumanFormat.count(finding.count))"
            + (lines.isEmpty
              ? ")"
              : "; \(finding.lines.count == 1 ? "line" : "lines") \(lines)\(finding.count > finding.lines.count ? ", ..." : ""))")
        )
      }
    }
    var line =
      "\(HumanFormat.count(result.summary.added)) samples added, \(HumanFormat.count(result.summary.unchanged)) already here"
    if result.summary.deleted > 0 { line += ", \(HumanFormat.count(result.summary.deleted)) replaced" }
    try Console.print("\(line), in \(HumanFormat.duration(duration))")
  }
}
