import PeerDiscovery
import PeerProtocol
import Testing

@testable import PeerClient

@Suite("Machines as they announce themselves")
struct DiscoveredPeerTests {
  private static let id = "00112233445566778899aabbccddeeff"

  private static func service(
    _ name: String, _ address: String, _ family: DiscoveredService.AddressFamily = .ipv4, host: String = "studio.local",
    port: UInt16 = 8737, txt: [String: String] = ["id": id]
  ) -> DiscoveredService {
    DiscoveredService(
      name: name, hostName: host, address: address, addressFamily: family, port: port, interfaceName: "eth0",
      interfaceIndex: 2, txt: txt)
  }

  @Test("answers of one machine are one peer, IPv4 first")
  func grouping() throws {
    let peers = DiscoveredPeer.group([
      Self.service("studio", "fe80::1%eth0", .ipv6), Self.service("studio", "192.168.1.20"),
      Self.service("attic", "192.168.1.30", txt: [:]), Self.service("studio", "10.0.0.1"),
    ])
    #expect(peers.map(\.name) == ["studio", "attic"])
    let studio = try #require(peers.first)
    #expect(studio.id == PeerID(hex: Self.id))
    #expect(studio.servicesByFamily.map(\.address) == ["192.168.1.20", "10.0.0.1", "fe80::1%eth0"])
    #expect(
      studio.endpoints == [
        PeerEndpoint(host: "192.168.1.20", port: 8737), PeerEndpoint(host: "10.0.0.1", port: 8737),
        PeerEndpoint(host: "fe80::1%eth0", port: 8737),
      ])
    #expect(peers[1].id == nil)
  }

  @Test("two machines that claim one name stay two, by their ids")
  func sameName() {
    let other = "ff112233445566778899aabbccddeeff"
    let peers = DiscoveredPeer.group([
      Self.service("studio", "10.0.0.1"), Self.service("studio", "10.0.0.2", txt: ["id": other]),
      Self.service("studio", "10.0.0.3", txt: ["id": "nonsense"]),
    ])
    #expect(peers.map(\.id?.hex) == [Self.id, other, nil])
  }

  @Test("an open window shows, and its end too")
  func pairing() {
    let open = Self.service("studio", "10.0.0.1", txt: ["id": Self.id, "pair": "1"])
    let closed = Self.service("studio", "10.0.0.1", txt: ["id": Self.id, "pair": "0"])
    #expect(DiscoveredPeer.group([open]).map(\.isPairing) == [true])
    #expect(DiscoveredPeer.group([open, closed]).map(\.isPairing) == [false])
    #expect(DiscoveredPeer.group([closed]).map(\.isPairing) == [false])
  }

  @Test(
    "a person means a peer by its name, its host or the beginning of its id",
    arguments: [
      ("studio", true), ("STUDIO", true), ("Studio-Box.local", true), ("studio-box", true), ("0011", true),
      (id, true), ("001", false), ("1122", false), ("stud", false), ("", false), ("local", false), (".local", false),
    ])
  func matching(text: String, isMeant: Bool) throws {
    let peer = try #require(
      DiscoveredPeer.group([Self.service("Studio", "10.0.0.1", host: "studio-box.local")]).first)
    #expect(peer.matches(text) == isMeant)
  }

  @Test(
    "an instance name may have got a number from Avahi",
    arguments: [
      ("studio", true), ("Studio", true), ("studio #2", true), ("studio #12", true), ("studio #", true),
      ("studio 2", false), ("studio #2x", false), ("studios", false), ("", false),
    ])
  func instance(text: String, isMeant: Bool) {
    #expect(DiscoveredPeer.isInstance(text, of: "studio") == isMeant)
  }

  @Test(
    "hostile values make peers that nobody means by accident",
    arguments: [
      "\u{1B}[2J", "\u{0}", "", " ", "\u{202E}oiduts", "studio\u{200B}", "ｓtudio", "#2",
      String(repeating: "x", count: 5000),
    ])
  func hostile(text: String) {
    let service = Self.service(text, "10.0.0.9", host: text, txt: ["id": text, "pair": text])
    let peers = DiscoveredPeer.group([service, service, Self.service("studio", "10.0.0.1")])
    #expect(peers.count == 2)
    #expect(peers[0].id == nil && !peers[0].isPairing)
    #expect(!peers[0].matches("studio") && !DiscoveredPeer.isInstance(text, of: "studio"))
    #expect(peers[0].services.count == 2)
  }
}
