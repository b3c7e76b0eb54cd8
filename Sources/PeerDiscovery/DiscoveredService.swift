/// A resolved service instance, as seen on one interface over one IP version.
///
/// An instance that is reachable in several ways arrives as several values with the same ``name``. Its data comes
/// from the network and is not verified. Every text is valid UTF-8 but may contain control characters: escape it
/// before it goes to a terminal.
public struct DiscoveredService: Sendable, Hashable, Identifiable {
  /// The IP version of an answer and of its address.
  public enum AddressFamily: String, Sendable, Hashable, CaseIterable {
    /// A records (RFC 1035) and AAAA records (RFC 3596).
    case ipv4, ipv6
  }

  /// The identity of a service instance on one interface over one IP version, as in ``BrowseEvent/lost(_:)``.
  public struct ID: Sendable, Hashable {
    /// See ``DiscoveredService/name``.
    public var name: String
    /// The kernel's index of the interface, as in `if_nametoindex(3)`.
    public var interfaceIndex: Int32
    /// The IP version of the answer. An instance announced over both versions has two values.
    public var addressFamily: AddressFamily

    /// Creates an id, equal to ``DiscoveredService/id`` of the service it identifies.
    public init(name: String, interfaceIndex: Int32, addressFamily: AddressFamily) {
      self.name = name
      self.interfaceIndex = interfaceIndex
      self.addressFamily = addressFamily
    }
  }

  /// The instance name, at most 63 bytes of UTF-8 before repair; invalid bytes become U+FFFD.
  public var name: String
  /// The host that offers the service, such as `studio.local`.
  public var hostName: String
  /// The numeric unicast address; a loopback address only if it was announced on the loopback interface. A link-local
  /// IPv6 address ends in `%` and the interface, which is needed to connect.
  public var address: String
  /// The IP version of the answer and of ``address``.
  public var addressFamily: AddressFamily
  /// The TCP port of the SRV record, never 0.
  public var port: UInt16
  /// The interface name, such as `eth0`, or the index in decimal if the interface no longer exists.
  public var interfaceName: String
  /// The kernel's index of the interface that received the answer.
  public var interfaceIndex: Int32
  /// The TXT record, with keys in lower case because they are compared case-insensitively (RFC 6763 section 6.4). A
  /// key without a value has the empty string.
  public var txt: [String: String]
  /// Whether the service runs on this machine.
  public var isLocal: Bool

  public var id: ID { ID(name: name, interfaceIndex: interfaceIndex, addressFamily: addressFamily) }

  /// Creates a service without checking anything. For the browser and for tests.
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
