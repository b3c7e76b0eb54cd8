import HealthOperations
import PeerTrust
import Terminal

/// What a pull says when it has ended: one line, or one JSON object.
struct PullPresentation {
  let result: PullResult
  /// Of `pull --verify`.
  var verification: VerifyPresentation.Report?

  private struct Report: Encodable {
    var peer: String
    var id: String
    var added: Int
    var deleted: Int
    var unchanged: Int
    var bytes: Int
    var requests: Int
    var seconds: Double
    /// Of an app's record.
    var coverage: CoverageReport?
    var verification: VerifyPresentation.Report?
  }

  func print(json: Bool) throws {
    let (server, done, duration) = (result.server, result.done, result.duration)
    if json {
      return try Console.print(
        json: Report(
          peer: server.name, id: server.id.hex, added: done.added, deleted: done.deleted, unchanged: done.unchanged,
          bytes: done.bytes, requests: done.requests, seconds: duration.reportedSeconds,
          coverage: result.coverage.map(CoverageReport.init), verification: verification))
    }
    if server.traits.isApp { return try printApp() }
    try Console.print(
      "\(PlainText.escaped(server.name)): \(HumanFormat.count(done.added)) added, \(HumanFormat.count(done.deleted)) deleted, "
        + "\(HumanFormat.count(done.unchanged)) unchanged, \(HumanFormat.bytes(done.bytes)) in \(HumanFormat.duration(duration))"
    )
  }
}

extension PullPresentation {
  /// A phone says nothing of deletions; what it is vouched for says the rest.
  private func printApp() throws {
    let (server, done) = (result.server, result.done)
    var line = "\(PlainText.escaped(server.name)) (\(server.dialect)): \(HumanFormat.count(done.added)) added, "
    if done.deleted > 0 { line += "\(HumanFormat.count(done.deleted)) gone, " }
    line +=
      "\(HumanFormat.count(done.unchanged)) known, \(HumanFormat.bytes(done.bytes)) in \(HumanFormat.duration(result.duration))"
    if let summary = result.coverage?.summary, !summary.isEmpty {
      line += "; \(PlainText.escaped(summary, limit: 300))"
    }
    try Console.print(line + ".")
    Console.say("Keep the phone open and unlocked while pulling.")
  }
}

/// What a pull from one of several machines prints as JSON in the place of its report.
struct FailedPull: Encodable {
  var peer: String
  var id: String
  var error: ErrorObject

  static func print(_ server: ServerRecord, _ error: any Error) throws {
    // A comparison that differs has been printed, with where.
    if (error as? CommandFailure)?.isInReport == true { return }
    try Console.print(json: FailedPull(peer: server.name, id: server.id.hex, error: ErrorObject(error)))
  }
}
