import PeerDiscovery
import PeerProtocol

/// A machine that announces itself, with all the ways in which it was seen. What it says of itself proves nothing.
public struct DiscoveredPeer: Hashable, Sendable {
  /// The instance name: hostile text.
  public var name: String
  /// From the TXT record; `nil` for a server of `_healthsync._tcp` that is not an hpeer.
  public var id: PeerID?
  /// Whether it says that a pairing window is open.
  public var isPairing: Bool
  /// The announced services, one for each interface, IP version and address; never empty.
  public var services: [DiscoveredService]

  init(_ service: DiscoveredService) {
    name = service.name
    id = service.txt["id"].flatMap { PeerID(hex: $0) }
    isPairing = service.txt["pair"] == "1"
    services = [service]
  }

  /// Whether `instance` is the instance name `name`, or what Avahi makes of it where another has it already.
  public static func isInstance(_ instance: String, of name: String) -> Bool {
    let (instance, name) = (instance.lowercased(), name.lowercased())
    return instance == name
      || instance.hasPrefix(name + " #") && instance.dropFirst(name.count + 2).allSatisfy(\.isNumber)
  }

  /// ``services``, IPv4 first, since a link-local IPv6 address works on one interface only.
  public var servicesByFamily: [DiscoveredService] {
    let ordered = services.filter { $0.addressFamily == .ipv4 } + services.filter { $0.addressFamily == .ipv6 }
    // A machine that is heard on a network, too, is where that says.
    let elsewhere = ordered.filter { !$0.address.hasPrefix("127.") && $0.address != "::1" }
    return elsewhere.isEmpty ? ordered : elsewhere
  }

  /// Where ``servicesByFamily`` listen, in that order.
  public var endpoints: [PeerEndpoint] {
    servicesByFamily.map { PeerEndpoint(host: $0.address, port: Int($0.port)) }
  }

  /// Whether a person may mean this peer by `text`: its name, its host name or the beginning of its id.
  public func matches(_ text: String) -> Bool {
    let wanted = text.lowercased()
    if name.lowercased() == wanted { return true }
    if let id, wanted.utf8.count >= 4, id.hex.hasPrefix(wanted) { return true }
    return services.contains { service in
      let host = service.hostName.lowercased()
      return host == wanted || host == wanted + ".local"
    }
  }

  /// One value per machine, in the order of appearance.
  public static func group(_ services: [DiscoveredService]) -> [DiscoveredPeer] {
    var peers: [DiscoveredPeer] = []
    for service in services {
      let peer = DiscoveredPeer(service)
      if let known = peers.firstIndex(where: { $0.name == peer.name && $0.id == peer.id }) {
        peers[known].services.append(service)
        peers[known].isPairing = peer.isPairing
      } else {
        peers.append(peer)
      }
    }
    return peers
  }
}

/// What was seen on the network in a while.
public struct PeerSurvey: Hashable, Sendable {
  /// One for each machine, in the order of appearance; this machine's own store is left out.
  public var peers: [DiscoveredPeer]
  /// Services that are not listed, by the address that announces too many of them.
  public var crowded: [String: Int]
  /// Services that are not listed because there are too many in all.
  public var ignored: Int
}
