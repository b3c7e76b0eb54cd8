import PeerDiscovery
import PeerProtocol

/// A machine discovered on the network, with all its announced services. An announcement proves nothing.
public struct DiscoveredPeer: Hashable, Sendable {
  /// The instance name; treat it as hostile text.
  public var name: String
  /// The ID in the TXT record; `nil` for a server of `_healthsync._tcp` that is not an hpeer.
  public var id: PeerID?
  /// Whether the machine announces an open pairing window.
  public var isPairing: Bool
  /// The services, one for each interface, IP version and address; never empty.
  public var services: [DiscoveredService]

  init(_ service: DiscoveredService) {
    name = service.name
    id = service.txt["id"].flatMap { PeerID(hex: $0) }
    isPairing = service.txt["pair"] == "1"
    services = [service]
  }

  /// Returns whether `instance` is the instance name `name`, or the variant that Avahi chooses if the name is taken.
  public static func isInstance(_ instance: String, of name: String) -> Bool {
    let (instance, name) = (instance.lowercased(), name.lowercased())
    return instance == name
      || instance.hasPrefix(name + " #") && instance.dropFirst(name.count + 2).allSatisfy(\.isNumber)
  }

  /// The services, IPv4 first, because a link-local IPv6 address works on one interface only.
  public var servicesByFamily: [DiscoveredService] {
    let ordered = services.filter { $0.addressFamily == .ipv4 } + services.filter { $0.addressFamily == .ipv6 }
    // Loopback addresses are left out if the machine is also announced on a network.
    let elsewhere = ordered.filter { !$0.address.hasPrefix("127.") && $0.address != "::1" }
    return elsewhere.isEmpty ? ordered : elsewhere
  }

  /// The endpoints of ``servicesByFamily``, in that order.
  public var endpoints: [PeerEndpoint] {
    servicesByFamily.map { PeerEndpoint(host: $0.address, port: Int($0.port)) }
  }

  /// Returns whether `text` is the peer's name, its host name or the beginning of its ID.
  public func matches(_ text: String) -> Bool {
    let wanted = text.lowercased()
    if name.lowercased() == wanted { return true }
    if let id, wanted.utf8.count >= 4, id.hex.hasPrefix(wanted) { return true }
    return services.contains { service in
      let host = service.hostName.lowercased()
      return host == wanted || host == wanted + ".local"
    }
  }

  /// Groups services by machine, in the order of appearance.
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

/// The result of listening to the network for a while.
public struct PeerSurvey: Hashable, Sendable {
  /// The machines in the order of appearance, without this machine's own store.
  public var peers: [DiscoveredPeer]
  /// The numbers of unlisted services, keyed by an address that announces too many.
  public var crowded: [String: Int]
  /// The number of services left out because there are too many in total.
  public var ignored: Int
}
