/// One resolved answer: a service instance as seen on one interface over one IP version.
///
/// An instance that is reachable in several ways arrives as several values with the same ``name``.
/// Everything in it was said by whoever is on the network. Nothing is verified, and every text is valid UTF-8 but may
/// hold control characters: escape it before it goes to a terminal.
public struct DiscoveredService: Sendable, Hashable, Identifiable {
  /// The IP version of an answer and of its address.
  public enum AddressFamily: String, Sendable, Hashable, CaseIterable {
    /// A records (RFC 1035) and AAAA records (RFC 3596).
    case ipv4, ipv6
  }

  /// What ``BrowseEvent/lost(_:)`` names: an instance on one interface over one IP version.
  public struct ID: Sendable, Hashable {
    /// See ``DiscoveredService/name``.
    public var name: String
    /// The kernel's number of it, as `if_nametoindex(3)` has it.
    public var interfaceIndex: Int32
    /// The IP version of the answer; an instance announced over both has two values.
    public var addressFamily: AddressFamily

    /// Equal to ``DiscoveredService/id`` of the service that it names.
    public init(name: String, interfaceIndex: Int32, addressFamily: AddressFamily) {
      self.name = name
      self.interfaceIndex = interfaceIndex
      self.addressFamily = addressFamily
    }
  }

  /// The instance name, at most 63 bytes of UTF-8 before repair; invalid bytes read U+FFFD.
  public var name: String
  /// The host that offers the service, such as `studio.local`.
  public var hostName: String
  /// A numeric unicast address; a loopback one only if it was announced on the loopback interface. A link-local IPv6 address ends in `%` and the interface, without which it cannot be connected to.
  public var address: String
  /// The IP version over which the answer came, and of ``address``.
  public var addressFamily: AddressFamily
  /// The TCP port of the SRV record, never 0.
  public var port: UInt16
  /// Such as `eth0`; the index in decimal when the interface has gone in the meantime.
  public var interfaceName: String
  /// The kernel's number of the interface that the answer came in on.
  public var interfaceIndex: Int32
  /// The TXT record, keys in lower case (RFC 6763 section 6.4: they are compared without regard to case).
  /// A key without a value reads as the empty string.
  public var txt: [String: String]
  /// Whether this very machine offers it.
  public var isLocal: Bool

  public var id: ID { ID(name: name, interfaceIndex: interfaceIndex, addressFamily: addressFamily) }

  /// Made by the browser, and by tests; nothing is checked.
  public init(
    name: String, hostName: String, address: String, addressFamily: AddressFamily, port: UInt16,
    interfaceName: String, interfaceIndex: Int32, txt: [String: String] = [:], isLocal: Bool = false
  ) {
    self.name = name
    self.hostName = hostName
    self.address = address
    self.addressFamily = addressFamily
    self.port = port
    self.interfaceName = interfaceName
    self.interfaceIndex = interfaceIndex
    self.txt = txt
    self.isLocal = isLocal
  }
}

/// The DNS-SD service that hpeer shares with the iPhone apps.
public enum HealthSyncService {
  /// The service type (RFC 6763 section 7). Peers behind it speak different dialects: confirm what a peer is before
  /// speaking to it.
  public static let type = "_healthsync._tcp"
}
