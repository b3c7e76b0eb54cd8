import HealthModel
import PeerClient
import Terminal

/// What is vouched for of an app's record, as JSON.
struct CoverageReport: Encodable {
  struct Entry: Encodable {
    var type: String
    /// What the phone had at the last look.
    var samples: Int?
    /// The start of the earliest sample, where all were read.
    var since: Timestamp?
    /// When all were read last.
    var swept: Timestamp?
    var complete: Bool
    /// Samples that could not be understood.
    var unreadable: Int?
    /// Why the type could not be read at the last look.
    var problem: String?
  }

  var types: [Entry]
  /// Types that the phone has and hpeer does not know.
  var unknown: [String]?
  /// The phone listed nothing, as a locked one does.
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
  /// What a line about a pull says of it: the type with the most samples, and what is missing.
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
