import ArgumentParser
import HealthModel
import HealthOperations
import HealthStore
import Terminal

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
