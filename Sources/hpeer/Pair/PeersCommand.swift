import ArgumentParser
import Foundation
import HealthModel
import HealthOperations
import PeerClient
import PeerProtocol
import PeerTrust
import Terminal

struct Peers: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "List the machines that may read here, and those that are pulled from.",
    discussion: """
      Examples:
        hpeer peers
        hpeer peers --all
        hpeer peers --json
        hpeer peers set laptop --types heartRate,stepCount --from 2024-01-01
        hpeer peers set laptop --all-types --no-from
      """,
    subcommands: [PeersList.self, PeersSet.self],
    defaultSubcommand: PeersList.self)
}

struct PeersList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the machines that may read here, and those that are pulled from.")

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Flag(help: "Also list machines whose right to read was taken away; --json always does.")
  var all = false
  @OptionGroup var zone: HomeZoneOptions

  private struct Report: Encodable {
    struct Client: Encodable {
      var name: String
      var id: String
      /// The ID that older events of the audit log have.
      var formerId: String?
      var method: String
      var state: String
      /// Whether the token is valid only together with the client's certificate.
      var bound: Bool
      var types: [String]?
      var since: Timestamp?
      var until: Timestamp?
      var sources: [String]?
      var onlyDaily: Bool?
      var created: Date
      var lastSeen: Date?
      var expires: Date
      /// The number of days for which each use makes the token valid.
      var tokenDays: Double
    }
    struct Server: Encodable {
      var name: String
      var id: String
      var fingerprint: String
      var address: String?
      var created: Date
      var lastUsed: Date?
      var expires: Date?
      /// The dialect of an app on a phone; `nil` for a machine that runs hpeer.
      var dialect: String?
      var coverage: CoverageReport?
    }
    var clients: [Client]
    var servers: [Server]
  }

  func run() async throws {
    let (everyClient, servers) = try await common.homeDirectory.paired()
    if output.json {
      return try Console.print(json: Self.report(everyClient, servers, await coverages(of: servers)))
    }
    let zone = try await zone.timeZone(in: try? common.homeDirectory.openStoreForReading())
    func time(_ date: Date) -> String { Timestamp(seconds: Timestamp(date).seconds).iso8601(in: zone) }
    let clients = everyClient.filter { all || $0.revoked == nil }
    let hidden = everyClient.count - clients.count
    defer { if hidden > 0 { Console.say("\(HumanFormat.count(hidden, "revoked machine")) not shown: see --all.") } }
    guard !clients.isEmpty || !servers.isEmpty else {
      Console.say(
        hidden == 0 ? "No machine is paired with this one yet." : "No machine is paired with this one any more.")
      return
    }
    if !clients.isEmpty {
      var table = Table(columns: [
        .init("MAY READ HERE"), .init("ID", isWhole: true), .init("STATE"), .init("WHAT"),
        .init("LAST SEEN", isWhole: true), .init("EXPIRES", isWhole: true),
      ])
      for client in clients {
        table.append([
          .init(client.name), .init(client.id.short), .init(Self.state(of: client)),
          .init(Self.text(client.scope, onlyDaily: client.isOnlyDaily, in: zone)),
          .init(client.lastSeen.map(time) ?? "never"),
          .init(Timestamp(client.expires).date(in: zone)),
        ])
      }
      try Console.print(table)
    }
    if !servers.isEmpty {
      if !clients.isEmpty { try Console.print("") }
      var table = Table(columns: [
        .init("PULLED FROM"), .init("ID", isWhole: true), .init("ADDRESS", isWhole: true),
        .init("LAST PULL", isWhole: true), .init("KIND"),
      ])
      for server in servers {
        table.append([
          .init(server.name), .init(server.id.short), .init(Self.address(of: server) ?? "-"),
          .init(server.lastUsed.map(time) ?? "never"), .init(server.dialect),
        ])
      }
      try Console.print(table)
      let coverages = await coverages(of: servers)
      for server in servers {
        guard let summary = coverages[server.id]?.summary, !summary.isEmpty else { continue }
        try Console.print("\(PlainText.escaped(server.name)): \(PlainText.escaped(summary, limit: 300)).")
      }
    }
  }

  /// Returns the coverage of apps, by ID; none if the store cannot be read.
  private func coverages(of servers: [ServerRecord]) async -> [PeerID: PullCoverage] {
    guard servers.contains(where: \.traits.isApp), let store = try? common.homeDirectory.openStore() else { return [:] }
    var coverages: [PeerID: PullCoverage] = [:]
    for server in servers { coverages[server.id] = try? await Pull.coverage(of: server, in: store) }
    return coverages
  }

  private static func report(
    _ clients: [ClientRecord], _ servers: [ServerRecord], _ coverages: [PeerID: PullCoverage]
  ) -> Report {
    Report(
      clients: clients.map {
        .init(
          name: $0.name, id: $0.id.hex, formerId: $0.formerID?.hex, method: $0.method.rawValue, state: state(of: $0),
          bound: $0.isBound, types: $0.scope.types?.map(\.rawValue).sorted(), since: $0.scope.earliest,
          until: $0.scope.end, sources: $0.scope.sources?.sorted(),
          onlyDaily: $0.isOnlyDaily ? true : nil, created: $0.created, lastSeen: $0.lastSeen,
          expires: $0.expires, tokenDays: $0.tokenLifetime / 86_400)
      },
      servers: servers.map {
        .init(
          name: $0.name, id: $0.id.hex, fingerprint: $0.fingerprint.hex, address: address(of: $0),
          created: $0.created, lastUsed: $0.lastUsed, expires: $0.expires,
          dialect: $0.traits.isApp ? $0.dialect : nil, coverage: coverages[$0.id].map(CoverageReport.init))
      })
  }

  /// Returns what a scope lets through, in a few words.
  static func text(_ scope: SampleFilter, onlyDaily: Bool, in zone: TimeZone) -> String {
    let types = scope.types.map { $0.count == 1 ? $0.first?.shortName ?? "" : "\($0.count) types" }
    let prefix = onlyDaily ? "daily numbers of " : ""
    return prefix + (types ?? "everything") + ScopeText.period(of: scope, in: zone) + ScopeText.sources(of: scope)
  }

  private static func state(of client: ClientRecord) -> String {
    if client.revoked != nil { return "revoked" }
    if client.expires <= Date() { return "expired" }
    return client.isBound ? "active" : "active, unbound"
  }

  private static func address(of server: ServerRecord) -> String? {
    guard let host = server.host, let port = server.port else { return nil }
    return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

struct PeersSet: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Change what a machine may read here.",
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
  @Flag(help: "Remove the limit of --types: all types, now and later.")
  var allTypes = false
  @OptionGroup var period: RecordPeriodOptions
  @Flag(help: "Remove the limit of --from.")
  var noFrom = false
  @Flag(help: .hidden)
  var noSince = false
  @Flag(help: "Remove the limit of --to.")
  var noTo = false
  @OptionGroup var sources: SourceOptions
  @Flag(help: "Remove the limit of --source: all sources, now and later.")
  var allSources = false
  @Flag(
    inversion: .prefixedNo,
    help:
      "Allow only the numbers of finished days, in this machine's home zone (hpeer zone): no samples, hours or counts."
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
    if let names = try await sources.resolved(in: store) { scope.sources = names }
    if forgetsFrom { scope.earliest = nil }
    if let start = period.start { scope.earliest = start }
    if noTo { scope.end = nil }
    if let end = period.end { scope.end = end }
    // The other bound may be an older one. A command that is refused changes nothing.
    guard scope.instants != nil else { throw ValidationError("--from must be before --to.") }
    let rights = ClientRights(registry, auditedIn: store)
    try await rights.limit(client, to: scope, isOnlyDaily: onlyDaily, tokenDays: lifetime.tokenDays)
    let what = PeersList.text(scope, onlyDaily: onlyDaily ?? client.isOnlyDaily, in: period.zone)
    Console.say("\(PlainText.escaped(client.name)) may now read \(what).")
  }

  private var forgetsFrom: Bool { noFrom || noSince }
}
