import ArgumentParser
import HealthOperations
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerTrust
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
    /// The number of services that are not among `peers`, by the address that announces too many.
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
    /// The dialect; `nil` for a server that hpeer cannot speak with.
    var kind: String?
    var addresses: [Address]
  }

  func run() async throws {
    let home = common.homeDirectory
    let registry = try await home.openRegistryForReading()
    let identity = try await IdentityStore.existing(in: home.url)
    let finder = PeerFinder(registry: registry, ownID: identity?.id) { PlainText.escaped($0) }
    let survey = try await finder.survey(for: .seconds(timeout))
    let peers = survey.peers
    let speakers = await finder.speakers(among: peers, paired: try await registry.servers())
    if output.json {
      return try Console.print(
        json: Report(
          peers: zip(peers, speakers).map(Self.entry), more: survey.crowded, ignored: survey.ignored))
    }
    guard !peers.isEmpty else {
      throw PeerFinderError.nobody(seconds: Int(timeout.rounded(.up)), others: [])
    }
    let others = try await registry.servers().map(\.name) + peers.map(\.name)
    var table = Table(columns: [
      .init("NAME"), .init("ADDRESS"), .init("PORT", .trailing), .init("ID"), .init("KIND"), .init("STATE"),
    ])
    for (peer, speaker) in zip(peers, speakers) {
      for (index, service) in peer.servicesByFamily.enumerated() {
        table.append([
          .init(index == 0 ? peer.name : ""), .init(service.address), .init(String(service.port)),
          .init(index == 0 ? peer.id?.short ?? "-" : ""),
          .init(index == 0 ? speaker.dialect ?? "unknown" : ""),
          .init(index == 0 ? Self.state(of: peer, speaker, Self.lookalike(peer, others)) : ""),
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

  /// Returns the name of another machine that this one's name may be taken for.
  private static func lookalike(_ peer: DiscoveredPeer, _ names: [String]) -> String? {
    names.first { LookAlike.areConfusable(peer.name, $0) }.map { PlainText.escaped($0, limit: 60) }
  }

  private static func state(of peer: DiscoveredPeer, _ speaker: PeerSpeaker, _ lookalike: String?) -> String {
    if speaker.isPaired { return "paired" }
    if speaker.isImpostor { return "not paired: it claims to be a paired machine, with another certificate" }
    if let lookalike { return "not paired: its name looks like \(lookalike), and is another" }
    if let traits = speaker.dialect.flatMap(PeerDialects.dialect(named:))?.traits, traits.isApp {
      let name = ShellWord.quoted(peer.name)
      if traits.copiesCode { return "not paired: copy its QR text, then hpeer pair \(name) -" }
      if !traits.showsCodeWithoutIPv4, !peer.services.contains(where: { $0.addressFamily == .ipv4 }) {
        return "not paired: it shows no QR code without an IPv4 address; connect the phone to Wi-Fi"
      }
      return "not paired: hpeer pair \(name) --qr PICTURE"
    }
    guard speaker.dialect != nil else { return "not hpeer" }
    return peer.isPairing ? "ready to pair" : "not paired"
  }

  private static func entry(_ peer: DiscoveredPeer, _ speaker: PeerSpeaker) -> Entry {
    Entry(
      name: peer.name, id: peer.id?.hex, paired: speaker.isPaired, pairing: peer.isPairing, hpeer: peer.id != nil,
      kind: speaker.dialect,
      addresses: peer.servicesByFamily.map {
        .init(address: $0.address, port: Int($0.port), interface: $0.interfaceName)
      })
  }
}
