import ArgumentParser
import Foundation
import HealthModel
import HealthStore
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
        hpeer peers set laptop --since 2024-01-01
        hpeer peers set laptop --all-types --no-since
        hpeer peers set laptop --token-days 365
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "The machine's name, or the beginning of its id.")
  var name: String
  @Option(
    help: "Only these types, comma-separated short names or HealthKit identifiers.", transform: SampleType.list)
  var types: [SampleType]?
  @Flag(help: "All types, now and later.")
  var allTypes = false
  @Option(help: "Nothing that starts before this date (2024-06-15, local) or instant (ISO 8601).")
  var since: DateArgument?
  @Flag(help: "However long ago.")
  var noSince = false
  @OptionGroup var lifetime: TokenLifetimeOption

  func validate() throws {
    if types != nil, allTypes { throw ValidationError("Give --types or --all-types, not both.") }
    if since != nil, noSince { throw ValidationError("Give --since or --no-since, not both.") }
    guard types != nil || allTypes || since != nil || noSince || lifetime.tokenDays != nil else {
      throw ValidationError("Say what to change: --types, --all-types, --since, --no-since or --token-days.")
    }
  }

  func run() async throws {
    let home = common.homeDirectory
    let registry = try await home.openRegistry()
    let client = try await registry.client(matching: name)
    if let seconds = lifetime.seconds { try await registry.setTokenLifetime(seconds, ofClient: client.id) }
    var scope = client.scope
    if allTypes { scope.types = nil }
    if let types { scope.types = Set(types.map(\.rawValue)) }
    if noSince { scope.earliest = nil }
    if let since { scope.earliest = Date(timeIntervalSince1970: Double(since.start.seconds)) }
    if scope != client.scope { try await registry.setScope(scope, ofClient: client.id) }
    var detail = ["peer": client.name, "id": client.id.hex]
    detail["types"] = scope.types.map { $0.map { SampleType($0).shortName }.sorted().joined(separator: ",") } ?? "all"
    detail["earliest"] = scope.earliest.map { Timestamp(seconds: Int64($0.timeIntervalSince1970)).iso8601 }
    detail["tokenDays"] = lifetime.tokenDays.map(String.init)
    try await home.createStore().record(AuditEvent(.scopeChanged, detail))
    Console.say("\(PlainText.escaped(client.name)) may now read \(PeersList.text(scope)).")
  }
}
