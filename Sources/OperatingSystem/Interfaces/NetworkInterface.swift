import Glibc

/// A network interface with one of its IPv4 addresses.
public struct NetworkInterface: Hashable, Sendable {
  /// The kernel's name, such as `wlan0`.
  public let name: String
  /// The index for system calls, from 1; 0 if the interface no longer exists.
  public let index: UInt32
  /// The IPv4 address, or nil if the interface has none.
  public let address: IPv4Address?
  /// The length of the network prefix of ``address`` in bits, 0 to 32; 32 if there is no IPv4 address.
  public let prefixLength: Int
  /// Whether the interface is enabled and has a link: `IFF_UP` and `IFF_RUNNING`.
  public let isUp: Bool
  /// Whether the interface only leads to this machine itself.
  public let isLoopback: Bool
  /// Whether the interface supports multicast, which mDNS needs: `IFF_MULTICAST`.
  public let takesMulticast: Bool

  /// Whether the interface may lead to other machines. False for bridges and virtual cables to containers and virtual
  /// machines on this machine.
  public var leadsOut: Bool {
    isUp && takesMulticast && !isLoopback
      && !["docker", "veth", "br-", "virbr", "podman", "cni", "lxcbr", "vnet"].contains { name.hasPrefix($0) }
  }

  /// Returns every interface once for each of its IPv4 addresses, and once if it has none.
  @Sendable public static func all() -> [NetworkInterface] {
    let interfaces = InterfaceEntry.all().map(NetworkInterface.init)
    let withAddress = Set(interfaces.filter { $0.address != nil }.map(\.name))
    var seen: Set<NetworkInterface> = []
    return interfaces.filter { ($0.address != nil || !withAddress.contains($0.name)) && seen.insert($0).inserted }
  }

  private init(_ entry: InterfaceEntry) {
    let ipv4: IPv4Address? = if case .ipv4(let address) = entry.address { address } else { nil }
    self.init(
      name: entry.name, index: if_nametoindex(entry.name), address: ipv4,
      prefixLength: entry.mask?.value.nonzeroBitCount ?? 32, isUp: entry.has(IFF_UP) && entry.has(IFF_RUNNING),
      isLoopback: entry.has(IFF_LOOPBACK), takesMulticast: entry.has(IFF_MULTICAST))
  }

  /// Creates an interface from known values. The defaults describe a typical interface to the local network.
  public init(
    name: String, index: UInt32 = 0, address: IPv4Address?, prefixLength: Int = 24, isUp: Bool = true,
    isLoopback: Bool = false, takesMulticast: Bool = true
  ) {
    self.name = name
    self.index = index
    self.address = address
    self.prefixLength = prefixLength
    self.isUp = isUp
    self.isLoopback = isLoopback
    self.takesMulticast = takesMulticast
  }
}

/// An entry of getifaddrs(3): an interface with one of its addresses, of any family.
struct InterfaceEntry {
  enum Address {
    case ipv4(IPv4Address)
    /// A numeric IPv6 address; a link-local one ends in `%` and the interface.
    case ipv6(String)
  }

  let name: String
  let address: Address?
  let mask: IPv4Address?
  private let flags: UInt32

  static func all() -> [InterfaceEntry] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    return sequence(first: list, next: { $0?.pointee.ifa_next }).compactMap { $0.map { InterfaceEntry($0.pointee) } }
  }

  private init(_ entry: ifaddrs) {
    name = String(cString: entry.ifa_name)
    flags = entry.ifa_flags
    mask = IPv4Address(entry.ifa_netmask)
    address = IPv4Address(entry.ifa_addr).map { .ipv4($0) } ?? Self.ipv6(entry.ifa_addr).map { .ipv6($0) }
  }

  func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }

  private static func ipv6(_ address: UnsafeMutablePointer<sockaddr>?) -> String? {
    guard let address, Int32(address.pointee.sa_family) == AF_INET6 else { return nil }
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    guard getnameinfo(address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
    return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
