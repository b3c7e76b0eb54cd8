import Foundation
import HealthModel
import OperatingSystem
import PeerClient
import PeerServer
import PeerTrust
import Terminal

/// A ``StatusReport`` as one screen for people.
struct StatusPresentation {
  let report: StatusReport
  let served: ServerState?
  let zone: TimeZone
  let endings: [Ending]

  func print() throws {
    try printServing()
    if let record = report.record {
      try Console.print(
        "The record has \(HumanFormat.count(record.samples, "sample")) of \(HumanFormat.count(record.types, "type"))."
      )
    } else {
      try Console.print("No health record yet. Start with `hpeer import` or `hpeer pull`.")
    }
    if report.readers > 0 {
      let machines = report.readers == 1 ? "1 machine may" : "\(HumanFormat.count(report.readers)) machines may"
      try Console.print("\(machines) read it: `hpeer peers`.")
    }
    try printTable(
      ["PULLED FROM", "KIND", "STATE", "LAST PULL"],
      report.peers.map { [$0.name, $0.kind, $0.state.rawValue, $0.lastSuccess.map(text) ?? "never"] })
    for peer in report.peers { try peer.coverage.map { try printCoverage($0, of: peer) } }
    try printTable(
      ["DESTINATION", "KIND", "STATE", "LAST DELIVERY", "NEXT"],
      report.destinations.map {
        [
          $0.name, $0.kind, $0.state.rawValue, $0.lastSuccess.map(text) ?? "never", $0.nextAttempt.map(text) ?? "-",
        ]
      })
    try printTable(
      ["AUTOMATION", "WHEN", "STATE", "LAST", "NEXT"],
      report.automations.map {
        [$0.name, $0.when, $0.state.rawValue, $0.last.map(text) ?? "never", $0.next.map(text) ?? "-"]
      })
    if let inbox = report.inbox { try printInbox(inbox) }
    try printFailures()
    guard !endings.isEmpty else { return }
    try Console.print("")
    for ending in endings {
      try Console.print(PlainText.escaped(EndingText.of(ending, isOver: ending.isOver(at: Date())), limit: 500))
    }
  }

  /// The number of types shown of a phone that has more: those with the most samples. Incomplete types are added.
  private static let mostTypes = 8

  /// Prints the coverage of an app's record.
  private func printCoverage(_ coverage: CoverageReport, of peer: StatusReport.Peer) throws {
    let order = coverage.types.sorted { ($1.samples ?? 0, $0.type) < ($0.samples ?? 0, $1.type) }
    let isShown = Set(order.prefix(Self.mostTypes).map(\.type))
    let shown = order.filter { isShown.contains($0.type) || !$0.complete }.prefix(2 * Self.mostTypes)
    try printTable(
      ["OF " + PlainText.escaped(peer.name, limit: 40), "SAMPLES", "COMPLETE BACK TO", "LAST READ WHOLE"],
      shown.map { entry in
        [
          entry.type, entry.samples.map { HumanFormat.count($0) } ?? "-",
          entry.complete ? entry.since.map { $0.date(in: zone) } ?? "no samples" : "not complete yet",
          entry.swept.map(text) ?? "never",
        ]
      })
    var notes: [String] = []
    if coverage.types.count > shown.count {
      let more = HumanFormat.count(coverage.types.count - shown.count, "more type")
      notes.append("\(more) not shown, complete or with fewer samples (see `hpeer status --json`)")
    }
    if let unknown = coverage.unknown {
      notes.append("\(HumanFormat.count(unknown.count, "type")) that hpeer does not know")
    }
    let unreadable = coverage.types.reduce(0) { $0 + ($1.unreadable ?? 0) }
    if unreadable > 0 { notes.append("\(HumanFormat.count(unreadable, "sample")) that could not be understood") }
    if coverage.empty == true { notes.append("it last listed nothing, as a locked phone does") }
    if !notes.isEmpty { try Console.print("\(PlainText.escaped(peer.name)): \(notes.joined(separator: "; ")).") }
  }

  private func printInbox(_ inbox: InboxReport) throws {
    try printTable(
      ["APP THAT SENDS", "STATE", "LAST RECEIVED", "REFUSED LATELY"],
      inbox.senders.map { sender in
        [
          sender.name, sender.state.rawValue, sender.lastReceived.map(text) ?? "never",
          sender.refused.map { "\(HumanFormat.count($0.count)) (\($0.reason)), last \(text($0.last))" } ?? "-",
        ]
      })
    guard let ends = inbox.certificate?.ends, ends < Timestamp(Date() + Ending.notice) else { return }
    try Console.print(
      "The certificate of the inbox \(inbox.certificate?.isOver == true ? "was" : "is") valid until "
        + "\(ends.date(in: zone)): phones do not send to an expired certificate, so renew it.")
  }

  private func text(_ instant: Timestamp) -> String { instant.shortText(in: zone) }

  private func printServing() throws {
    guard let served else {
      guard let process = report.process else {
        try Console.print("Nothing runs here: `hpeer run` serves, follows and delivers all the time.")
        return try printLock()
      }
      try Console.print("hpeer is running (process \(process)) and serves nothing.")
      return try printLock()
    }
    let name = served.name.map { " as \(PlainText.escaped($0))" } ?? ""
    try Console.print("Serving\(name) (process \(served.process)).")
    try printLock()
    switch served.window {
    case .closed: try Console.print("No pairing window is open: `hpeer pair --wait` opens one.")
    case .locked:
      try Console.print("Pairing is locked after five wrong codes: `hpeer pair --wait` opens a new window.")
    case .open(let window):
      let left = max(0, window.expiresAt.rawValue - Date().timeIntervalSince1970)
      let attempts = HumanFormat.count(window.attemptsLeft.rawValue, "attempt")
      try Console.print(
        "A pairing window is open for \(HumanFormat.countdown(.seconds(left.rounded()))) more, \(attempts) left, opened "
          + (window.process.map { "by `hpeer pair --wait` (process \($0))." } ?? "on the server's terminal."))
      try Console.print(ScopeText.ofCode(window.scope, in: zone))
    }
  }

  private func printLock() throws {
    guard let locked = report.locked else { return }
    let since = Timestamp(seconds: Timestamp(locked).seconds).iso8601(in: zone)
    try Console.print("Locked since \(since): paired machines get no answer until `hpeer unlock`.")
    guard let names = report.waitsFor, !names.isEmpty else { return }
    let list = names.map { PlainText.escaped($0, limit: 100) }.joined(separator: ", ")
    try Console.print(
      "This machine was restored, and \(list) may know what was deleted since the backup: "
        + "it unlocks by itself once you have pulled from all of them.")
  }

  private func printTable(_ titles: [String], _ rows: [[String]]) throws {
    guard !rows.isEmpty else { return }
    var table = Table(columns: titles.map { .init($0, isWhole: $0.hasPrefix("LAST") || $0 == "NEXT") })
    for row in rows { table.append(row.map { .init($0) }) }
    try Console.print("")
    try Console.print(table)
  }

  /// Prints what is failing, since when and why.
  private func printFailures() throws {
    var lines: [String] = []
    func note(_ name: String, _ since: Timestamp?, _ failures: Int?, _ reason: String?, isFailing: Bool) {
      guard isFailing else { return }
      let times = failures.map { $0 > 1 ? ", \(HumanFormat.count($0, "time"))" : "" } ?? ""
      lines.append(
        "\(PlainText.escaped(name)) has been failing since \(since.map(text) ?? "some time")\(times): "
          + PlainText.escaped(reason ?? "unknown reason", limit: 500))
    }
    for peer in report.peers {
      note(peer.name, peer.failingSince, peer.failures, peer.reason, isFailing: peer.state == .failing)
    }
    for place in report.destinations {
      note(place.name, place.failingSince, place.failures, place.reason, isFailing: place.state == .failing)
    }
    for automation in report.automations {
      note(
        automation.name, automation.failingSince, automation.failures, automation.reason,
        isFailing: automation.state == .failing)
    }
    if let problem = report.inbox?.certificate?.problem {
      lines.append("The certificate of the inbox cannot be used: \(PlainText.escaped(problem, limit: 500))")
    }
    for sender in report.inbox?.senders ?? [] where sender.state == .failing {
      lines.append(
        "Data from \(sender.name) is refused (\(sender.refused?.reason ?? "unknown")). See docs/how-to/inbox.md for what to "
          + "do, and `hpeer audit` for when it happened.")
    }
    guard !lines.isEmpty else { return }
    try Console.print("")
    for line in lines { try Console.print(line) }
  }
}

/// The text about a certificate or token that ends, with what to do.
enum EndingText {
  /// Warns about an ending while a server runs.
  @Sendable static func warn(_ ending: Ending, isOver: Bool) {
    Console.warn(of(ending, isOver: isOver), JournalFields(.validityEnding, peer: ending.name))
  }

  /// Returns the text about an ending. It may quote anything, so it must be escaped.
  static func of(_ ending: Ending, isOver: Bool) -> String {
    let name = ending.name ?? ""
    let day = Timestamp(ending.ends).shortText(in: .current).prefix(10)
    switch ending.subject {
    case .identity:
      return
        "This machine's certificate \(isOver ? "was" : "is") valid until \(day). hpeer checks its fingerprint and "
        + "keeps working, but other apps may refuse it. `hpeer identity rotate` makes a new one; machines that read here must then pair again."
    case .client(let id):
      if isOver {
        return
          "\(name) may not read here any more, since \(day): pair again (`hpeer pair --wait` here, `hpeer pair` there), "
          + "or forget it with `hpeer revoke \(id.short)`."
      }
      return "\(name) may read here until \(day) only: run `hpeer pull` on it before then."
    case .server(_, let dialect):
      let isRenewed = PeerDialects.dialect(named: dialect)?.traits.renewsToken ?? true
      let command = isRenewed && !isOver ? "pull" : "pair"
      return
        "The pairing with \(name) \(isOver ? "ended" : "ends") on \(day): run `hpeer \(command) \(ShellWord.quoted(name))`."
    }
  }
}

/// The end of a certificate or token, for `--json`.
struct EndingObject: Encodable {
  /// The subject: `identity`, `client` or `server`.
  var kind: String
  var name: String?
  /// The ID of the other machine.
  var id: String?
  var ends: Timestamp
  var isOver: Bool

  init(_ ending: Ending, now: Date = Date()) {
    (name, ends, isOver) = (ending.name, Timestamp(ending.ends), ending.isOver(at: now))
    switch ending.subject {
    case .identity: kind = "identity"
    case .client(let id): (kind, self.id) = ("client", id.hex)
    case .server(let id, _): (kind, self.id) = ("server", id.hex)
    }
  }
}
