import Foundation

/// Addresses of this machine that others on its network can reach.
public enum LocalAddress {
  /// Numeric addresses of interfaces that are up and not loopback, IPv4 first; link-local IPv6 is left out, because it
  /// means nothing without the other side's interface name.
  public static func all() -> [String] {
    reachable().filter { !isLinkLocal($0) }
  }

  /// The IPv6 addresses of the same interfaces that ``all()`` leaves out, each with `%` and the interface here.
  public static func linkLocal() -> [String] {
    reachable().filter(isLinkLocal)
  }

  private static func isLinkLocal(_ address: String) -> Bool { address.hasPrefix("fe80:") }

  private static func reachable() -> [String] {
    var (ipv4, ipv6): ([String], [String]) = ([], [])
    for entry in InterfaceEntry.all() where entry.has(IFF_UP) && !entry.has(IFF_LOOPBACK) {
      switch entry.address {
      case .ipv4(let address): ipv4.append(address.description)
      case .ipv6(let address): ipv6.append(address)
      case nil: continue
      }
    }
    return ipv4 + ipv6
  }
}

/// What this machine is called on its network.
public enum Hostname {
  /// The host name up to its first dot.
  public static var short: String {
    let name = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
    return name.isEmpty ? "hpeer" : String(name)
  }
}
