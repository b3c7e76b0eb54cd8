import OperatingSystem

/// A condition of a packet filter's rule, if it is understood.
struct Condition: Hashable, Sendable {
  enum Test: Hashable, Sendable {
    /// A transport protocol such as `tcp`, `udp` or `icmp`; numbers as text.
    case transport(Set<String>)
    case ports([ClosedRange<UInt16>])
    /// Interface names; a trailing `+` or `*` is a wildcard.
    case interfaces([String])
    case source([Network]), destination([Network])
    /// Connection states, such as `new`.
    case states(Set<String>)
    /// Packet types such as `unicast`, `host`, `local`, `multicast` or `broadcast`.
    case kinds(Set<String>)
    /// Address families, `ipv4` or `ipv6`. Packets here are IPv4.
    case family(Set<String>)
    case unknown
  }

  struct Network: Hashable, Sendable {
    var address: IPv4Address
    var prefixLength: Int

    /// Parses `192.168.0.0/16`, or a single address.
    init?(_ text: some StringProtocol) {
      let parts = text.split(separator: "/")
      guard let first = parts.first, let address = IPv4Address(first), parts.count <= 2 else { return nil }
      self.address = address
      if parts.count == 1 {
        prefixLength = 32
      } else if let length = Int(parts[1]), (0...32).contains(length) {
        prefixLength = length
      } else if let mask = IPv4Address(parts[1]) {
        prefixLength = mask.value.nonzeroBitCount
      } else {
        return nil
      }
    }

    func contains(_ other: IPv4Address) -> Bool { other.isIn(address, prefixLength: prefixLength) }
  }

  var test: Test
  var isNegated = false

  func answer(for packet: Packet) -> RuleSet.Answer {
    guard let matches = matches(packet) else { return .maybe }
    return matches == isNegated ? .no : .yes
  }

  private func matches(_ packet: Packet) -> Bool? {
    switch test {
    case .transport(let names):
      !names.isDisjoint(with: [packet.transport.rawValue, packet.transport == .tcp ? "6" : "17", "all"])
    case .ports(let ranges): ranges.contains { $0.contains(packet.port) }
    case .interfaces(let names):
      names.contains { name in
        name.hasSuffix("+") || name.hasSuffix("*")
          ? packet.interface.hasPrefix(name.dropLast()) : name == packet.interface
      }
    case .source(let networks): networks.contains { $0.contains(packet.source) }
    case .destination(let networks): networks.contains { $0.contains(packet.destination) }
    case .states(let names): names.contains("new")
    case .kinds(let names):
      packet.isMulticast ? names.contains("multicast") : !names.isDisjoint(with: ["unicast", "host", "local"])
    case .family(let names): names.contains("ipv4")
    case .unknown: nil
    }
  }
}
