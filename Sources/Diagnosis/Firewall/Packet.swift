import OperatingSystem

/// The first packet of a connection from a neighbour on the same network, as an incoming packet filter sees it.
struct Packet: Hashable, Sendable {
  enum Transport: String, Hashable, Sendable {
    case tcp, udp
  }

  var transport: Transport
  var port: UInt16
  var interface: String
  var source: IPv4Address
  var destination: IPv4Address
  var isMulticast: Bool

  /// Creates a packet; nil for an interface without an IPv4 address.
  private init?(_ transport: Transport, _ port: UInt16, on interface: NetworkInterface, to group: IPv4Address?) {
    guard let own = interface.address else { return nil }
    self.transport = transport
    self.port = port
    self.interface = interface.name
    // Flipping the lowest bit gives a neighbour's address in every network that has neighbours.
    source = IPv4Address(value: own.value ^ 1)
    destination = group ?? own
    isMulticast = group != nil
  }

  /// Returns a packet of a client that connects to `hpeer serve`.
  static func connection(to port: UInt16, on interface: NetworkInterface) -> Packet? {
    Packet(.tcp, port, on: interface, to: nil)
  }

  /// Returns a packet with an mDNS query or announcement.
  static func multicastDNS(on interface: NetworkInterface) -> Packet? {
    Packet(.udp, 5353, on: interface, to: IPv4Address(value: 0xE000_00FB))
  }
}
