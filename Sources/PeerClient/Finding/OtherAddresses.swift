import PeerDiscovery

/// A lookup of the further addresses of announced machines. avahi-daemon resolves a service to one address of each
/// family, but a machine may have several on one interface, and only another may be reachable.
struct OtherAddresses: Sendable {
  /// The maximum number of host names looked up, because any machine can announce a thousand services.
  static let mostHosts = 24
  /// The maximum number of services at one address, as many as a browser lists: a host that announces more gets none by
  /// its further addresses.
  fileprivate static let mostPerAddress = 16
  /// The time limit for the lookups. Most names are known to avahi-daemon already, as it has just resolved their services.
  private static let patience = Duration.seconds(1)

  /// Returns the same machines, with the further addresses of their host names.
  ///
  /// - Throws: `CancellationError`. A lookup that fails adds nothing.
  func completing(_ peers: [DiscoveredPeer]) async throws -> [DiscoveredPeer] {
    let hosts = Set(peers.flatMap(\.services).map(\.hostName).filter(HostNameLookup.isLocal).prefix(Self.mostHosts))
    let addresses = await withTaskGroup(of: (String, [String]).self) { group in
      for host in hosts {
        group.addTask { (host, (try? await HostNameLookup().addresses(of: host, within: Self.patience)) ?? []) }
      }
      return await group.reduce(into: [String: [String]]()) { $0[$1.0] = $1.1 }
    }
    try Task.checkCancellation()
    var counts: [String: Int] = [:]
    for service in peers.flatMap(\.services) { counts[service.address, default: 0] += 1 }
    return peers.map { $0.adding(addresses, &counts) }
  }
}

extension DiscoveredPeer {
  /// Returns this machine with further addresses of its hosts, each with the port that is announced under the name.
  ///
  /// - Parameter counts: the number of services at each address.
  fileprivate func adding(_ addresses: [String: [String]], _ counts: inout [String: Int]) -> DiscoveredPeer {
    var complete = self
    for service in services {
      for address in addresses[service.hostName] ?? []
      where counts[address, default: 0] < OtherAddresses.mostPerAddress
        && !complete.services.contains(where: { $0.address == address && $0.port == service.port })
      {
        counts[address, default: 0] += 1
        var other = service
        other.address = address
        other.addressFamily = address.contains(":") ? .ipv6 : .ipv4
        // A link-local address names its interface; for any other, the interface of the announcement will do.
        if let mark = address.firstIndex(of: "%") {
          other.interfaceName = String(address[address.index(after: mark)...])
        }
        complete.services.append(other)
      }
    }
    return complete
  }
}
