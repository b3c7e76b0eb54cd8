import Glibc

/// Addresses of this machine that others on its network can reach.
public enum LocalAddress {
  /// Numeric addresses of interfaces that are up and not loopback, IPv4 first; link-local IPv6 is left out, because it
  /// means nothing without the other side's interface name.
  public static func all() -> [String] {
    interfaceAddresses().filter { !isLinkLocal($0) }
  }

  /// The IPv6 addresses of the same interfaces that ``all()`` leaves out, each with `%` and the interface here.
  public static func linkLocal() -> [String] {
    interfaceAddresses().filter(isLinkLocal)
  }

  private static func isLinkLocal(_ address: String) -> Bool { address.hasPrefix("fe80:") }

  private static func interfaceAddresses() -> [String] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    var ipv4: [String] = []
    var ipv6: [String] = []
    var next = list
    while let entry = next {
      next = entry.pointee.ifa_next
      let flags = Int32(bitPattern: entry.pointee.ifa_flags)
      guard flags & Int32(IFF_UP) != 0, flags & Int32(IFF_LOOPBACK) == 0,
        let address = entry.pointee.ifa_addr
      else { continue }
      let family = Int32(address.pointee.sa_family)
      guard family == AF_INET || family == AF_INET6, let text = numeric(address, family: family) else { continue }
      if family == AF_INET {
        ipv4.append(text)
      } else {
        ipv6.append(text)
      }
    }
    return ipv4 + ipv6
  }

  private static func numeric(_ address: UnsafeMutablePointer<sockaddr>, family: Int32) -> String? {
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let length = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
    guard getnameinfo(address, socklen_t(length), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else {
      return nil
    }
    return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
