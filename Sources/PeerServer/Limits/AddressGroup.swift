import NIOCore

/// What is counted as one caller: an IPv4 address or an IPv6 /64, since whoever has one address of a /64 has them all
/// (RFC 4291 section 2.5.1).
enum AddressGroup: Hashable, Sendable {
  /// In network byte order.
  case ipv4(UInt32)
  /// The first eight bytes.
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
