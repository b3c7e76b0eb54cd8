/// A filter for announced addresses that may be connected to.
///
/// Any machine on the network can announce any address. An address that refers to this machine itself would make
/// hpeer talk to services that only this machine is meant to reach.
enum ConnectableAddress {
  /// Returns whether an address may be connected to.
  ///
  /// - Parameters:
  ///   - bytes: the address in network byte order, 4 or 16 bytes.
  ///   - isFromLoopback: whether the announcement came over the loopback interface, where only this machine speaks.
  static func isUsable(_ bytes: [UInt8], isFromLoopback: Bool) -> Bool {
    switch bytes.count {
    case 4: isUsable(ipv4: bytes, isFromLoopback: isFromLoopback)
    case 16: isUsable(ipv6: bytes, isFromLoopback: isFromLoopback)
    default: false
    }
  }

  /// Returns whether an IPv4 address is a unicast address (RFC 6890); loopback counts only if announced on loopback.
  private static func isUsable(ipv4 bytes: [UInt8], isFromLoopback: Bool) -> Bool {
    switch bytes[0] {
    case 0, 224...255: false
    case 127: isFromLoopback
    default: true
    }
  }

  private static func isUsable(ipv6 bytes: [UInt8], isFromLoopback: Bool) -> Bool {
    if bytes[0] == 0xFF { return false }
    guard bytes[..<10].allSatisfy({ $0 == 0 }) else { return true }
    // Handle ::, ::1 and IPv6 forms of IPv4 addresses: mapped (::ffff:0:0/96) and compatible (::/96).
    if bytes[10...].dropLast().allSatisfy({ $0 == 0 }), bytes[15] <= 1 { return bytes[15] == 1 && isFromLoopback }
    guard bytes[10] == bytes[11], bytes[10] == 0 || bytes[10] == 0xFF else { return true }
    return isUsable(ipv4: Array(bytes[12...]), isFromLoopback: isFromLoopback)
  }
}
