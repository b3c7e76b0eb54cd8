import Glibc
import NIOCore

/// The unit in which callers are counted: an IPv4 address or an IPv6 /64, because the owner of one address of a /64
/// controls all of them (RFC 4291 section 2.5.1).
enum AddressGroup: Hashable, Sendable {
  /// The address in network byte order.
  case ipv4(UInt32)
  /// The first eight bytes of the address, which are its /64 prefix.
  case ipv6(UInt64)
  case unknown

  init(_ address: SocketAddress?) {
    switch address {
    case .v4(let address):
      self = .ipv4(address.address.sin_addr.s_addr)
    case .v6(let address):
      let words = withUnsafeBytes(of: address.address.sin6_addr) { bytes in
        (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      }
      // A socket for both families shows IPv4 callers as ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2).
      if words.0 == 0, UInt64(bigEndian: words.1) >> 32 == 0xFFFF {
        self = .ipv4(UInt32(truncatingIfNeeded: UInt64(bigEndian: words.1)).bigEndian)
      } else {
        self = .ipv6(words.0)
      }
    case .unixDomainSocket, nil:
      self = .unknown
    }
  }
}

extension AddressGroup: CustomStringConvertible {
  /// The address or prefix as text: `192.0.2.7`, `2001:db8:1:2::/64` or `unknown`.
  var description: String {
    switch self {
    case .ipv4(let address):
      return withUnsafeBytes(of: address) { $0.map { String($0) }.joined(separator: ".") }
    case .ipv6(let prefix):
      var address = in6_addr()
      withUnsafeMutableBytes(of: &address) { $0.storeBytes(of: prefix, as: UInt64.self) }
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      guard inet_ntop(AF_INET6, &address, &text, socklen_t(text.count)) != nil else { return "unknown" }
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/64"
    case .unknown: return "unknown"
    }
  }
}
