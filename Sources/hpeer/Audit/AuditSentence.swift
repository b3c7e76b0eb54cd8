import Foundation
import HealthModel
import HealthStore
import Terminal

/// An event of the audit log in words: `laptop read 22,541 samples`.
struct AuditSentence {
  private let detail: [String: String]
  private let event: String
  private let times: Int

  init(_ record: AuditRecord) {
    (detail, event, times) = (record.detail, record.event, record.times)
  }

  /// The keys of details that only `--raw` prints.
  private static let technical: Set = [
    "id", "streams", "from", "to", "requests", "bytes", "unchanged", "complete", "kind", "deep", "role",
    AuditRead.timesKey,
  ]

  var text: String {
    let (words, used) = words
    let rest = detail.filter { !Self.technical.contains($0.key) && !used.contains($0.key) }
      .sorted { $0.key < $1.key }.map { "\($0.key) \(quoted($0.value))" }
    let repeated = times > 1 ? ", \(HumanFormat.count(times, "time"))" : ""
    return words + (rest.isEmpty ? "" : " (\(rest.joined(separator: ", ")))") + repeated
  }

  private var peer: String { name("peer", or: "a machine") }

  /// The sentence, and the keys of the details that it says.
  private var words: (String, Set<String>) {
    switch AuditEvent.Name(rawValue: event) {
    case .dataRead: ("\(peer) read \(count("count", "sample"))\(types)", ["peer", "count", "types"])
    case .readStarted: ("\(peer) began to read\(types)", ["peer", "types"])
    case .followStarted: ("\(peer) waits for what is new", ["peer"])
    case .typesListed: ("\(peer) was told which types there are", ["peer"])
    case .statusRead: ("\(peer) was told how many types there are", ["peer"])
    case .digestRead: ("\(peer) compared its record", ["peer", "samples"])
    case .statisticsRead:
      (
        "\(peer) read numbers\(types)\(detail["bucket"].map { " by \(quoted($0))" } ?? "")",
        ["peer", "types", "bucket"]
      )
    case .pairingRead: ("\(peer) was told about its pairing", ["peer"])
    case .pairingSucceeded: (detail["role"] == "client" ? "Paired with \(peer)" : "\(peer) paired", ["peer"])
    case .pairingFailed: ("An attempt to pair failed", [])
    case .pairingEnded: ("\(peer) is no longer paired", ["peer"])
    case .tokenRefused: ("A request with an invalid token was refused", [])
    case .tokenRevoked: ("\(peer) may no longer read", ["peer"])
    case .personCompared: ("\(peer) asked whose record it is", ["peer"])
    case .scopeChanged: ("What \(peer) may read was changed", ["peer"])
    case .peerRenamed: ("\(peer) has another name", ["peer"])
    case .pullStarted: ("A pull from \(peer) began", ["peer"])
    case .pullFinished: ("Pulled from \(peer): \(changes)", ["peer", "added", "deleted"])
    case .pullFailed: ("A pull from \(peer) failed", ["peer", "added", "deleted"])
    case .verifyFinished:
      (
        "Compared with \(peer): \(detail["equal"] == "true" ? "equal" : "not equal")",
        ["peer", "equal", "samples", "differences"]
      )
    case .verifyFailed: ("A comparison with \(peer) failed", ["peer"])
    case .importStarted: ("An import of \(name("file", or: "a file")) began", ["file"])
    case .imported: ("Imported \(name("file", or: "a file")): \(changes)", ["file", "added", "deleted"])
    case .importUndone:
      ("The import of \(name("file", or: "a file")) was taken back", ["file", "removed", "restored"])
    case .inboxReceived:
      ("\(name("sender", or: "An app")) sent \(count("count", "value"))", ["sender", "count", "added"])
    case .inboxRefused: ("\(name("sender", or: "An app")) sent data that was refused", ["sender"])
    case .inboxChanged:
      ("The app \(name("sender", or: "")) was \(name("change", or: "changed"))", ["sender", "change"])
    case .exportStarted: ("An export to \(name("file", or: "a file")) began", ["file", "format"])
    case .exported:
      ("Exported \(count("count", "sample"))\(types) to \(name("file", or: "a file"))", ["file", "count", "types"])
    case .deliveryStarted: ("A delivery to \(name("destination", or: "")) began", ["destination", "count"])
    case .deliveryFinished:
      ("Delivered \(count("count", "change")) to \(name("destination", or: ""))", ["destination", "count"])
    case .deliveryFailed: ("A delivery to \(name("destination", or: "")) failed", ["destination"])
    case .destinationChanged:
      (
        "The destination \(name("destination", or: "")) was \(name("change", or: "changed"))",
        ["destination", "change"]
      )
    case .automationStarted:
      ("The automation \(name("automation", or: "")) began", ["automation", "do", "occasion", "file"])
    case .automationFinished:
      ("The automation \(name("automation", or: "")) ended", ["automation", "do", "occasion", "file"])
    case .automationFailed: ("The automation \(name("automation", or: "")) failed", ["automation", "do", "occasion"])
    case .automationPassedOver:
      ("The automation \(name("automation", or: "")) skipped \(count("files", "file"))", ["automation", "files"])
    case .automationChanged:
      ("The automation \(name("automation", or: "")) was \(name("change", or: "changed"))", ["automation", "change"])
    case .deleted: ("Deleted \(count("count", "sample"))\(types)", ["count", "types"])
    case .restored: ("Brought back \(count("count", "sample"))\(types)", ["count", "types"])
    case .serverStarted: ("This machine began to serve", ["name"])
    case .serverStopped: ("This machine ended serving", ["reason"])
    case .serverLocked: ("This machine was locked", [])
    case .serverUnlocked: ("This machine was unlocked", [])
    case .windowOpened: ("A pairing window was opened", [])
    case .windowClosed: ("The pairing window was closed", [])
    case .windowLocked: ("The pairing window was locked after too many attempts", [])
    case .backedUp: ("A backup was made: \(name("file", or: "a file"))", ["file", "contents"])
    case .backupRestored: ("A backup was put back", [])
    case .settingChanged: ("\(name("setting", or: "A setting")) was changed", ["setting"])
    case .auditPruned: ("Old events of this log were removed", [])
    case .storeHealed: ("Wrong stored counts were corrected", [])
    default: (quoted(event), [])
    }
  }

  private var types: String {
    guard let types = detail["types"], !types.isEmpty else { return "" }
    let names = types.split(separator: ",")
    return names.count > 4
      ? " of \(HumanFormat.count(names.count, "type"))" : " of \(quoted(names.joined(separator: ", ")))"
  }

  private var changes: String {
    let deleted = detail["deleted"].flatMap { Int($0) } ?? 0
    return "\(count("added", "new sample"))\(deleted > 0 ? ", \(HumanFormat.count(deleted)) deleted" : "")"
  }

  private func count(_ key: String, _ noun: String) -> String {
    let number = detail[key].flatMap { Int($0) } ?? 0
    return number == 0 ? "no \(noun)" : HumanFormat.count(number, noun)
  }

  private func name(_ key: String, or other: String) -> String { detail[key].map(quoted) ?? other }

  /// Returns an escaped text. Names in the log come from the network.
  private func quoted(_ text: String) -> String { PlainText.escaped(text, limit: 200) }

  /// Returns a time: `00:41 today`, `14:05 yesterday`, `14:05 on 2026-11-23`.
  static func time(_ instant: Timestamp, in zone: TimeZone, now: Timestamp = .now) -> String {
    let text = instant.iso8601(in: zone)
    let (date, clock) = (String(text.prefix(10)), String(text.dropFirst(11).prefix(5)))
    let today = now.date(in: zone)
    if date == today { return "\(clock) today" }
    // Not 24 hours before: days on which clocks change have others.
    let before = Timestamp(iso8601: "\(today)T12:00:00Z").map {
      Timestamp(seconds: $0.seconds - 86_400).iso8601.prefix(10)
    }
    return date == before.map(String.init) ? "\(clock) yesterday" : "\(clock) on \(date)"
  }
}
