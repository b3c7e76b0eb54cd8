import ArgumentParser
import Foundation
import HealthModel
import HealthOperations
import PeerTrust
import Terminal

struct PeersSet: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Say what a machine may read here.",
    discussion: """
      Takes effect with the machine's next request, which starts over: it is sent everything that it may read, and keeps \
      what it already has.

      Examples:
        hpeer peers set laptop --types heartRate,stepCount
        hpeer peers set laptop --from 2024-01-01
        hpeer peers set laptop --from 2023-01-01 --to 2023-12-31
        hpeer peers set laptop --source "Robin's Watch"
        hpeer peers set laptop --all-types --all-sources --no-from --no-to
        hpeer peers set dashboard --only-daily
        hpeer peers set laptop --token-days 365
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "The machine's name, or the beginning of its id.", completion: .clients)
  var name: String
  @OptionGroup var selection: TypeOptions
  @Flag(help: "All types, now and later.")
  var allTypes = false
  @OptionGroup var period: RecordPeriodOptions
  @Flag(help: "However long ago.")
  var noFrom = false
  @Flag(help: .hidden)
  var noSince = false
  @Flag(help: "However recent.")
  var noTo = false
  @OptionGroup var sources: SourceOptions
  @Flag(help: "All sources, now and later.")
  var allSources = false
  @Flag(
    inversion: .prefixedNo,
    help:
      "Numbers of finished days of this machine's home zone (hpeer zone), and nothing finer: no samples, hours or counts."
  )
  var onlyDaily: Bool?
  @OptionGroup var lifetime: TokenLifetimeOption

  func validate() throws {
    if selection.set != nil, allTypes { throw ValidationError("Give --types or --all-types, not both.") }
    if period.dates.hasStart, forgetsFrom { throw ValidationError("Give --from or --no-from, not both.") }
    if period.dates.hasEnd, noTo { throw ValidationError("Give --to or --no-to, not both.") }
    if sources.set != nil, allSources { throw ValidationError("Give --source or --all-sources, not both.") }
    let says = selection.set != nil || allTypes || sources.set != nil || allSources
    let saysTime = period.isBounded || forgetsFrom || noTo
    guard says || saysTime || onlyDaily != nil || lifetime.tokenDays != nil else {
      throw ValidationError(
        """
        Say what to change: --types, --all-types, --source, --all-sources, --from, --no-from, --to, --no-to, \
        --only-daily, --no-only-daily or --token-days.
        """)
    }
  }

  func run() async throws {
    let home = common.homeDirectory
    let registry = try await home.openRegistry()
    let client = try await registry.client(matching: name)
    let store = try home.createStore()
    let period = try await period.period(in: store)
    var scope = client.scope
    if allTypes { scope.types = nil }
    if let types = selection.setWithMembers { scope.types = types }
    if allSources { scope.sources = nil }
    if let names = sources.set { scope.sources = names }
    if forgetsFrom { scope.earliest = nil }
    if let start = period.start { scope.earliest = start }
    if noTo { scope.end = nil }
    if let end = period.end { scope.end = end }
    // One of them may be from before. Nothing is changed by a command that is refused.
    guard scope.instants != nil else { throw ValidationError("--from must be before --to.") }
    let rights = ClientRights(registry, auditedIn: store)
    try await rights.limit(client, to: scope, isOnlyDaily: onlyDaily, tokenDays: lifetime.tokenDays)
    let what = PeersList.text(scope, onlyDaily: onlyDaily ?? client.isOnlyDaily, in: period.zone)
    Console.say("\(PlainText.escaped(client.name)) may now read \(what).")
  }

  private var forgetsFrom: Bool { noFrom || noSince }
}
