import Foundation

/// Addresses of this machine that others on its network can reach.
public enum LocalAddress {
  /// Returns the numeric addresses of interfaces that are up and not loopback, IPv4 first. Link-local IPv6 addresses
  /// are left out because they are only valid together with the other machine's interface name.
  public static func all() -> [String] {
    reachable().filter { !isLinkLocal($0) }
  }

  /// Returns the link-local IPv6 addresses of the same interfaces, each with `%` and the interface on this machine.
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

/// The host name of this machine.
public enum Hostname {
  /// The host name up to its first dot, or `hpeer` if it is empty.
  public static var short: String {
    let name = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
    return name.isEmpty ? "hpeer" : String(name)
  }
}
