import HealthModel
import HealthOperations
import PeerClient
import PeerTrust
import Terminal

/// The result of a pull: one line, or one JSON object.
struct PullPresentation {
  let result: PullResult
  /// The result of `pull --verify`.
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
    /// The coverage of an app's record.
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
  /// Prints the result of a pull from a phone. A phone reports no deletions; the coverage says how complete the
  /// record is.
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

/// The JSON object for a pull from one of several machines that failed, in place of its report.
struct FailedPull: Encodable {
  var peer: String
  var id: String
  var error: ErrorObject

  static func print(_ server: ServerRecord, _ error: any Error) throws {
    // A comparison that found differences has already been printed, with the places.
    if (error as? CommandFailure)?.isInReport == true { return }
    try Console.print(json: FailedPull(peer: server.name, id: server.id.hex, error: ErrorObject(error)))
  }
}

/// The coverage of an app's record, as JSON: which types were read in full, and back to when.
struct CoverageReport: Encodable {
  struct Entry: Encodable {
    var type: String
    /// The number of samples on the phone when they were last listed.
    var samples: Int?
    /// The start of the earliest sample, if all were read.
    var since: Timestamp?
    /// The time at which all samples were last read.
    var swept: Timestamp?
    var complete: Bool
    /// The number of samples that could not be understood.
    var unreadable: Int?
    /// The reason why the type could not be read the last time.
    var problem: String?
  }

  var types: [Entry]
  /// The types that the phone has and hpeer does not know.
  var unknown: [String]?
  /// Whether the phone listed nothing, as a locked one does.
  var empty: Bool?

  init(_ coverage: PullCoverage) {
    types = coverage.entries.map {
      Entry(
        type: $0.type.shortName, samples: $0.samples, since: $0.since, swept: $0.swept, complete: $0.isComplete,
        unreadable: $0.unreadable > 0 ? $0.unreadable : nil, problem: $0.problem)
    }
    unknown = coverage.unknown.isEmpty ? nil : coverage.unknown
    empty = coverage.listsNothing ? true : nil
  }
}

extension PullCoverage {
  /// A summary for a line about a pull: the type with the most samples, and what is missing.
  var summary: String {
    if listsNothing {
      return
        "the phone lists nothing, which a locked one does, too: unlock it, allow the app to read in Health, and pull again"
    }
    let open = entries.filter { !$0.isComplete && $0.problem == nil }.count
    var parts: [String] = []
    if let largest, let since = largest.since {
      parts.append("\(largest.type.shortName) verified back to \(since.civil.year)")
    }
    if open > 0 { parts.append("\(HumanFormat.count(open, "type")) not read to the end yet") }
    if !failing.isEmpty {
      parts.append("\(failing.map(\.type.shortName).joined(separator: ", ")) could not be read, and is tried again")
    }
    if !unknown.isEmpty {
      parts.append("\(HumanFormat.count(unknown.count, "type")) that hpeer does not know left out")
    }
    return parts.joined(separator: "; ")
  }
}
