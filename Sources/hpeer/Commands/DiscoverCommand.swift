import ArgumentParser
import HealthOperations
import PeerClient
import PeerProtocol
import Terminal

struct Discover: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "discover",
    abstract: "List the machines on this network that offer a health record.",
    discussion: """
      Names, addresses and ids are what the machines say of themselves; only pairing proves who they are.

      Examples:
        hpeer discover
        hpeer discover --json --timeout 10
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Option(help: "Seconds to listen.")
  var timeout = 3.0

  func validate() throws {
    guard (0.1...600).contains(timeout) else { throw ValidationError("--timeout takes 0.1 to 600 seconds.") }
  }

  private struct Report: Encodable {
    var peers: [Entry]
    /// Services that are not among `peers`, by the address that announces too many.
    var more: [String: Int]
    var ignored: Int
  }

  private struct Entry: Encodable {
    struct Address: Encodable {
      var address: String
      var port: Int
      var interface: String
    }
    var name: String
    var id: String?
    var paired: Bool
    var pairing: Bool
    var hpeer: Bool
    var addresses: [Address]
  }

  func run() async throws {
    let home = common.homeDirectory
    let registry = try await home.openRegistry()
    let identity = try await home.identity()
    let finder = PeerFinder(registry: registry, ownID: identity.id) { PlainText.escaped($0) }
    let survey = try await finder.survey(for: .seconds(timeout))
    let peers = survey.peers
    let paired = Set(try await registry.servers().map(\.id))
    if output.json {
      return try Console.print(
        json: Report(
          peers: peers.map { Self.entry($0, paired: paired) }, more: survey.crowded, ignored: survey.ignored))
    }
    guard !peers.isEmpty else {
      throw PeerFinderError.nobody(seconds: Int(timeout.rounded(.up)), others: [])
    }
    var table = Table(columns: [
      .init("NAME"), .init("ADDRESS"), .init("PORT", .trailing), .init("ID"), .init("STATE"),
    ])
    for peer in peers {
      for (index, service) in peer.services.enumerated() {
        table.append([
          .init(index == 0 ? peer.name : ""), .init(service.address), .init(String(service.port)),
          .init(index == 0 ? peer.id?.short ?? "-" : ""),
          .init(index == 0 ? Self.state(of: peer, paired: paired) : ""),
        ])
      }
    }
    try Console.print(table)
    for (address, more) in survey.crowded.sorted(by: { $0.key < $1.key }) {
      Console.say("\(PlainText.escaped(address)) announces \(HumanFormat.count(more)) more, which are not listed.")
    }
    if survey.ignored > 0 {
      Console.say("\(HumanFormat.count(survey.ignored)) more are announced on this network and not listed.")
    }
  }

  private static func state(of peer: DiscoveredPeer, paired: Set<PeerID>) -> String {
    guard let id = peer.id else { return "not hpeer" }
    if paired.contains(id) { return "paired" }
    return peer.isPairing ? "ready to pair" : "not paired"
  }

  private static func entry(_ peer: DiscoveredPeer, paired: Set<PeerID>) -> Entry {
    Entry(
      name: peer.name, id: peer.id?.hex, paired: peer.id.map(paired.contains) ?? false, pairing: peer.isPairing,
      hpeer: peer.id != nil,
      addresses: peer.services.map {
        .init(address: $0.address, port: Int($0.port), interface: $0.interfaceName)
      })
  }
}
