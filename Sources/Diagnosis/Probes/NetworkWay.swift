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
    guard SocketAddress(address, port: 9).withPointer({ connect(descriptor, $0, $1) }) == 0 else {
      return [ENETUNREACH, EHOSTUNREACH].contains(errno) ? .none : .unknown
    }
    var own = SocketAddress()
    return own.withMutablePointer({ getsockname(descriptor, $0, $1) }) == 0 ? .from(own.address) : .unknown
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
