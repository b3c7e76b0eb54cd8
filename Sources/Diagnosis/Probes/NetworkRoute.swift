import Glibc
import OperatingSystem

/// The route of packets from this machine to an address, by all of the kernel's routes, including those of a VPN.
enum NetworkRoute: Hashable, Sendable {
  /// The kernel has no route.
  case none
  /// Packets leave from this local address.
  case from(IPv4Address)
  /// The route cannot be determined.
  case unknown

  /// Returns the kernel's route to an address. Sends nothing.
  @Sendable static func to(_ address: IPv4Address) -> NetworkRoute {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return .unknown }
    defer { close(descriptor) }
    guard SocketAddress(address, port: 9).withPointer({ connect(descriptor, $0, $1) }) == 0 else {
      return [ENETUNREACH, EHOSTUNREACH].contains(errno) ? .none : .unknown
    }
    var own = SocketAddress()
    return own.withMutablePointer({ getsockname(descriptor, $0, $1) }) == 0 ? .from(own.address) : .unknown
  }
}

extension NetworkInterface {
  /// Whether the interface is a tunnel, such as that of a VPN.
  var isTunnel: Bool {
    ["tun", "tap", "wg", "ppp", "tailscale", "zt", "utun", "nordlynx", "proton", "ipsec"].contains {
      name.hasPrefix($0)
    }
  }
}
