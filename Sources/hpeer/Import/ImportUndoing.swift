import HealthModel
import HealthOperations
import HealthStore
import Terminal

/// The command `hpeer import --undo`.
struct ImportUndoing {
  let home: Home
  let isDryRun: Bool
  let zone: ZoneOptions

  func run(json: Bool) async throws {
    let store = try home.openStore()
    switch try await store.imports.undoLast(isDryRun: isDryRun) {
    case .undone(let undo):
      if json { try Console.print(json: Report(undo, isDryRun: isDryRun)) } else { try print(undo) }
    case .refused(let refusal):
      throw CommandFailure(refusal == .running ? .storeLocked : .other, refusal.explanation(in: zone))
    }
  }

  private func print(_ undo: ImportUndo) throws {
    let types = Set(undo.removed.keys).union(undo.restored.keys)
    let rows = types.map { ($0, undo.removed[$0] ?? 0, undo.restored[$0] ?? 0) }
      .sorted { (-$0.1 - $0.2, $0.0.rawValue) < (-$1.1 - $1.2, $1.0.rawValue) }
    if !rows.isEmpty {
      var table = Table(columns: [.init("TYPE"), .init("TAKEN BACK", .trailing), .init("BROUGHT BACK", .trailing)])
      for (type, removed, restored) in rows {
        table.append([
          .init(type.shortName), .init(HumanFormat.count(removed)), .init(HumanFormat.count(restored)),
        ])
      }
      try Console.print(table)
    }
    let (removed, restored) = (undo.removed.values.reduce(0, +), undo.restored.values.reduce(0, +))
    let file = PlainText.escaped(undo.name, limit: 100)
    if isDryRun {
      try Console.print(
        "Would take back \(HumanFormat.count(removed, "sample")) of \(file), imported on "
          + "\(zone.seconds(undo.started)), and bring back \(HumanFormat.count(restored)) that it "
          + "had deleted or replaced; nothing was changed")
    } else {
      try Console.print(
        "\(HumanFormat.count(removed, "sample")) of \(file) taken back, \(HumanFormat.count(restored)) brought back; the "
          + "same file can be imported again")
    }
  }

  /// The output of `--json`.
  private struct Report: Encodable {
    struct Entry: Encodable {
      var type: String
      var removed: Int
      var restored: Int
    }

    var file: String
    /// The start of the import.
    var imported: Timestamp
    /// The number of samples that the import had added.
    var removed: Int
    /// The number of samples that the import had deleted or replaced.
    var restored: Int
    var dryRun: Bool
    /// The types, by identifier.
    var types: [Entry]

    init(_ undo: ImportUndo, isDryRun: Bool) {
      file = undo.name
      imported = undo.started
      removed = undo.removed.values.reduce(0, +)
      restored = undo.restored.values.reduce(0, +)
      dryRun = isDryRun
      types = Set(undo.removed.keys).union(undo.restored.keys).map {
        Entry(type: $0.rawValue, removed: undo.removed[$0] ?? 0, restored: undo.restored[$0] ?? 0)
      }.sorted { $0.type < $1.type }
    }
  }
}

extension UndoRefusal {
  fileprivate func explanation(in zone: ZoneOptions) -> String {
    switch self {
    case .noImport: "There is no import here that could be undone."
    case .running: "An import into this store is running: wait until it has ended, then undo it."
    case .changedSince(let name, let events):
      "\(Self.quoted(name)) cannot be undone, because \(Self.explanation(of: events, zone)): only the last change to a store can "
        + "be undone. Use `hpeer delete` instead."
    case .read(let name, let peers):
      "\(Self.quoted(name)) cannot be undone any more: \(Self.list(peers)) \(peers.count == 1 ? "has" : "have") read what it "
        + "brought. Use `hpeer delete`: it spreads to them, and also deletes what they imported themselves."
    case .unknownReaders(let name):
      "\(Self.quoted(name)) cannot be undone any more: the audit log does not say who has read it since. Use "
        + "`hpeer delete`, which also deletes on machines that pull from here."
    }
  }

  private static func quoted(_ text: String) -> String { PlainText.escaped(text, limit: 100) }

  private static func explanation(of events: [AuditRecord], _ zone: ZoneOptions) -> String {
    guard let last = events.last else { return "something else has changed the store since it began" }
    let instant = zone.seconds(last.time)
    let types = quoted(last.detail["types"] ?? "samples")
    switch AuditEvent.Name(rawValue: last.event) {
    case .deleted: return "\(types) was deleted from since (\(instant))"
    case .restored: return "\(types) was brought back since (\(instant))"
    case .inboxReceived:
      return "\(quoted(last.detail["sender"] ?? "an app")) has sent something since (\(instant))"
    default: return "there was a pull from \(quoted(last.detail["peer"] ?? "another machine")) since (\(instant))"
    }
  }

  private static func list(_ names: [String]) -> String {
    let names = names.map(quoted)
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }
}
