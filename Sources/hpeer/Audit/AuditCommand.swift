import ArgumentParser
import Foundation
import HealthModel
import HealthOperations
import HealthStore
import Terminal

struct Audit: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Show who read what, when, and everything else that happened to the record.",
    discussion: """
      Examples:
        hpeer audit
        hpeer audit today
        hpeer audit --peer laptop
        hpeer audit --event data.read,export --from 2024-06-15 --json
        hpeer audit --follow
        hpeer audit verify
        hpeer audit prune --older-than 90
      """,
    subcommands: [AuditShow.self, AuditVerify.self, AuditPrune.self],
    defaultSubcommand: AuditShow.self)
}

struct AuditShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print the log, oldest first; on a terminal in words.")

  @OptionGroup var common: CommonOptions
  @OptionGroup var period: PeriodOptions
  @Flag(name: .shortAndLong, help: "Keep printing new events until Ctrl-C.")
  var follow = false
  @Option(help: ArgumentHelp("Only what this machine, app or destination did.", valueName: "name"))
  var peer: String?
  @Option(help: ArgumentHelp("Only these events, such as data.read, comma-separated.", valueName: "events"))
  var event: String?
  @Flag(help: "Print events with all their details, also on a terminal.")
  var raw = false
  @Flag(help: "Print each event as a JSON object on a line of its own.")
  var json = false

  func validate() throws {
    if follow, period.dates.hasEnd { throw ValidationError("--follow never ends, so it cannot be combined with --to.") }
    let known = Set(AuditEvent.Name.allCases.map(\.rawValue))
    if let unknown = events?.subtracting(known).min() {
      let similar = SimilarNames.suggestions(for: unknown, among: known.sorted())
      throw ValidationError(
        "There is no event called \(PlainText.escaped(unknown, limit: 60))"
          + (similar.isEmpty ? "." : "; did you mean \(similar.joined(separator: " or "))?"))
    }
  }

  private var events: Set<String>? {
    event.map { Set($0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }) }
  }

  /// Returns whether an event is asked for.
  private func isWanted(_ record: AuditRecord, _ range: Range<Timestamp>) -> Bool {
    guard range.contains(record.time), events?.contains(record.event) ?? true else { return false }
    guard let peer else { return true }
    return ["peer", "id", "sender", "destination", "automation", "name"].contains { key in
      record.detail[key].map { value in
        value.lowercased() == peer.lowercased() || key == "id" && peer.count > 3 && value.hasPrefix(peer.lowercased())
      } ?? false
    }
  }

  private struct Entry: Encodable {
    /// The ID; `nil` for reads that are counted and not in the log yet.
    var id: Int64?
    var time: Timestamp
    var event: String
    var detail: [String: String]
    var times: Int
  }

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    // Ctrl-C is how a person ends --follow, so there is nothing to say.
    guard case .ended = try await untilInterrupted({ try await show(store) }) else {
      throw ExitCode(ExitStatus.interrupted.rawValue)
    }
  }

  private func show(_ store: HealthStore) async throws {
    let period = try period.period
    var (last, hasPrinted) = (Int64(0), false)
    while true {
      let (records, open) = try await store.audit.log(after: last, since: period.start)
      for record in records + (records.isEmpty && !follow ? open : []) where isWanted(record, period.range) {
        try print(record, in: period.zone)
        hasPrinted = true
      }
      last = records.last?.id ?? last
      if !records.isEmpty { continue }
      if !follow {
        if !hasPrinted { Console.say("No matching events.") }
        return
      }
      try await Task.sleep(for: .milliseconds(500))
    }
  }

  private func print(_ record: AuditRecord, in zone: TimeZone) throws {
    if !raw, !json, Console.capabilities.isTerminal(.output) {
      return try Console.print("\(AuditSentence.time(record.time, in: zone))  \(AuditSentence(record).text)")
    }
    var detail = record.detail
    detail[AuditRead.timesKey] = nil
    if json {
      return try Console.print(
        json: Entry(
          id: record.id == 0 ? nil : record.id, time: record.time, event: record.event, detail: detail,
          times: record.times))
    }
    var words = detail.sorted { $0.key < $1.key }
      .map { "\($0.key)=\(Self.quoted($0.key == "id" ? String($0.value.prefix(8)) : $0.value))" }
    if record.times > 1 { words.append(HumanFormat.count(record.times, "time")) }
    let time = Timestamp(seconds: record.time.seconds).iso8601(in: zone)
    let event = record.event.padding(toLength: 18, withPad: " ", startingAt: 0)
    try Console.print("\(time)  \(event) \(words.joined(separator: " "))")
  }

  /// Returns an escaped text, in quotes if it has spaces. Names in the log come from the network.
  private static func quoted(_ text: String) -> String {
    let escaped = PlainText.escaped(text, limit: 200)
    return escaped.contains(" ") || escaped.isEmpty ? "\"\(escaped)\"" : escaped
  }
}

struct AuditVerify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check that no event was changed or removed.")

  @OptionGroup var common: CommonOptions

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    switch try await store.audit.verify() {
    case .intact(let rows, let pruned):
      let older = pruned > 0 ? " \(HumanFormat.count(pruned, "older event")) had been pruned before." : ""
      try Console.print("The audit log is intact: \(HumanFormat.count(rows, "event")).\(older)")
    case .broken(let damage):
      throw CommandFailure(.storeUnusable, "The audit log was changed: \(damage.text).")
    }
  }
}

extension [AuditDamage] {
  /// The first few damages, for a sentence.
  var text: String {
    let shown = 5
    let rest = count > shown ? "; and more (\(count - shown))" : ""
    return prefix(shown).map(\.description).joined(separator: "; ") + rest
  }
}

struct AuditPrune: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Remove old events from the log.",
    discussion: """
      `hpeer serve` does this once a day, for events older than its --audit-days. What remains can still be verified, \
      and an event says what was removed.

      Examples:
        hpeer audit prune --dry-run
        hpeer audit prune --older-than 90
      """)

  @OptionGroup var common: CommonOptions
  @Option(help: "Remove what is older than this many days.")
  var olderThan = AuditRetention.defaultDays
  @OptionGroup var zone: ZoneOptions
  @Flag(help: "Only say what would be removed.")
  var dryRun = false

  func validate() throws {
    guard (0...100_000).contains(olderThan) else { throw ValidationError("--older-than takes a number of days.") }
  }

  func run() async throws {
    let store = try common.homeDirectory.openStore()
    let days = HumanFormat.count(olderThan, "day")
    switch try await store.audit.prune(olderThan: Int64(olderThan) * 86_400, clock: .isTrusted, dryRun: dryRun) {
    case .nothing, .clockInDoubt: Console.say("No event is older than \(days).")
    case .removed(let count, let newest):
      let events = HumanFormat.count(count, "event")
      Console.say("\(events) up to \(zone.seconds(newest)) \(dryRun ? "would be" : "were") removed.")
    case .damaged(let damage):
      throw CommandFailure(
        .storeUnusable,
        "Nothing was removed, because the audit log is not what was written: \(damage.text).")
    }
  }
}
