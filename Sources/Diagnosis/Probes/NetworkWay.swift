import Glibc
import OperatingSystem

/// Which way packets to an address leave this machine, by all that the kernel knows of routes: also those that a VPN has put
/// before the others.
enum NetworkWay: Hashable, Sendable {
  /// The kernel has no route.
  case none
  /// They leave from this address of this machine.
  case from(IPv4Address)
  /// It cannot be told.
  case unknown

  /// Asks the kernel. Sends nothing.
  @Sendable static func to(_ address: IPv4Address) -> NetworkWay {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return .unknown }
    defer { close(descriptor) }
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = UInt16(9).bigEndian
    target.sin_addr.s_addr = address.value.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isConnected = withUnsafePointer(to: &target) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) == 0 }
    }
    guard isConnected else { return [ENETUNREACH, EHOSTUNREACH].contains(errno) ? .none : .unknown }
    var own = sockaddr_in()
    let isKnown = withUnsafeMutablePointer(to: &own) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
    }
    return isKnown ? .from(IPv4Address(value: UInt32(bigEndian: own.sin_addr.s_addr))) : .unknown
  }
}

extension NetworkInterface {
  /// Whether it leads into a tunnel, such as that of a VPN.
  var isTunnel: Bool {
    ["tun", "tap", "wg", "ppp", "tailscale", "zt", "utun", "nordlynx", "proton", "ipsec"].contains {
      name.hasPrefix($0)
    }
  }
}
