import Diagnosis
import Terminal

/// Findings as a person reads them: a mark and a line, and the remedy below.
struct FindingPresentation {
  var style: Style
  var usesUTF8: Bool

  /// Long enough for a command with two paths in it.
  private static let limit = 600

  /// A remedy that several findings have is said once, below the first of them.
  func lines(_ findings: [Finding]) -> [String] {
    zip(findings, findings.repeatRemedies).flatMap { lines($0, repeatsRemedy: $1) }
  }

  private func lines(_ finding: Finding, repeatsRemedy: Bool) -> [String] {
    let line = "\(mark(finding.severity)) \(PlainText.escaped(finding.text, limit: Self.limit))"
    guard let remedy = finding.remedy else { return [line] }
    let arrow = usesUTF8 ? "→" : "->"
    let text = repeatsRemedy ? "as above" : PlainText.escaped(remedy, limit: Self.limit)
    return [line, "  \(style.dim(arrow)) \(text)"]
  }

  private func mark(_ severity: Finding.Severity) -> String {
    switch severity {
    case .ok: style.green(usesUTF8 ? "✓" : "ok  ")
    case .note: style.dim(usesUTF8 ? "·" : "note")
    case .warning: style.yellow(usesUTF8 ? "!" : "warn")
    case .blocking: style.red(usesUTF8 ? "✗" : "FAIL")
    }
  }

  /// How many machines are named that were not reached.
  private static let namedPeers = 4

  static func summary(_ findings: [Finding]) -> String {
    let blocking = findings.count { $0.severity == .blocking }
    let warnings = findings.count { $0.severity == .warning }
    let rest = (warnings == 0 ? "" : "; \(HumanFormat.count(warnings, "warning"))") + away(findings.unreachedPeers)
    return switch blocking {
    case 0: "Nothing stands in the way\(rest)."
    case 1: "1 thing stands in the way\(rest)."
    default: "\(blocking) things stand in the way\(rest)."
    }
  }

  /// A machine that is off stands in no way, and is named all the same: a person may wonder where it is.
  private static func away(_ names: [String]) -> String {
    guard !names.isEmpty else { return "" }
    let more = names.count - namedPeers
    let list = names.prefix(namedPeers).map { PlainText.escaped($0) }.joined(separator: ", ")
    return "; not reached: \(list)\(more > 0 ? " and \(more) more" : "") (`hpeer doctor NAME` looks closer)"
  }
}
