import Foundation

/// A network interface with one of its IPv4 addresses.
struct NetworkInterface: Hashable, Sendable {
  let name: String
  let index: UInt32
  /// In network byte order; nil where it has no IPv4 address.
  let address: IPv4Address?
  let prefixLength: Int
  let isUp: Bool
  let isLoopback: Bool
  let takesMulticast: Bool

  /// Whether other machines may be behind it. Bridges and cables that lead to containers and virtual machines of this
  /// machine are not.
  var leadsOut: Bool {
    isUp && takesMulticast && !isLoopback
      && !["docker", "veth", "br-", "virbr", "podman", "cni", "lxcbr", "vnet"].contains { name.hasPrefix($0) }
  }

  /// Every interface once for each of its IPv4 addresses, and once if it has none.
  @Sendable static func all() -> [NetworkInterface] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    var interfaces: [NetworkInterface] = []
    for entry in sequence(first: list, next: { $0?.pointee.ifa_next }).compactMap({ $0?.pointee }) {
      interfaces.append(NetworkInterface(entry))
    }
    let withAddress = Set(interfaces.filter { $0.address != nil }.map(\.name))
    var seen: Set<NetworkInterface> = []
    return interfaces.filter { ($0.address != nil || !withAddress.contains($0.name)) && seen.insert($0).inserted }
  }

  private init(_ entry: ifaddrs) {
    let flags = Int32(bitPattern: entry.ifa_flags)
    func has(_ flag: Int) -> Bool { flags & Int32(flag) != 0 }
    self.init(
      name: String(cString: entry.ifa_name), index: if_nametoindex(entry.ifa_name),
      address: IPv4Address(entry.ifa_addr),
      prefixLength: IPv4Address(entry.ifa_netmask)?.value.nonzeroBitCount ?? 32,
      isUp: has(0x1) && has(0x40), isLoopback: has(0x8), takesMulticast: has(0x1000))
  }

  init(
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

struct IPv4Address: Hashable, Sendable, CustomStringConvertible {
  /// The first number of the dotted form in the highest byte.
  let value: UInt32

  init(value: UInt32) { self.value = value }

  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let bytes = parts.compactMap { UInt8($0) }
    guard parts.count == 4, bytes.count == 4 else { return nil }
    value = bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }

  fileprivate init?(_ address: UnsafeMutablePointer<sockaddr>?) {
    guard let address, Int32(address.pointee.sa_family) == AF_INET else { return nil }
    value = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
      UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
    }
  }

  var bytes: [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
  var description: String { bytes.map(String.init).joined(separator: ".") }

  func isIn(_ network: IPv4Address, prefixLength: Int) -> Bool {
    guard (1...32).contains(prefixLength) else { return prefixLength == 0 }
    return (value ^ network.value) >> UInt32(32 - prefixLength) == 0
  }
}
