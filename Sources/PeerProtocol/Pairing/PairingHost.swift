import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The spelling rules for the host in a pairing payload: a DNS name, an IPv4 address or an IPv6 address, in lower case.
///
/// A zone (`fe80::1%eth0`) is refused because it names an interface of the machine that created the payload.
package enum PairingHost {
  /// Returns the canonical spelling, lower case and without a final dot, or nil if the text is not a host.
  package static func normalized(_ text: String) -> String? {
    // Lower-casing turns some letters of other scripts into ASCII (the Kelvin sign), and inet_pton stops at NUL.
    guard (1...254).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    var host = text.lowercased()
    if host.hasSuffix(".") { host.removeLast() }
    return isIPv6(host) || isIPv4(host) || isName(host) ? host : nil
  }

  static func isIPv6(_ host: String) -> Bool {
    guard host.utf8.contains(UInt8(ascii: ":")) else { return false }
    var address = in6_addr()
    return inet_pton(AF_INET6, host, &address) == 1
  }

  private static func isIPv4(_ host: String) -> Bool {
    var address = in_addr()
    return inet_pton(AF_INET, host, &address) == 1
  }

  private static func isName(_ host: String) -> Bool {
    let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // A name that ends in a number is a mistyped IPv4 address (RFC 1123 section 2.1).
    guard host.utf8.count <= 253, let last = labels.last, !last.allSatisfy(isDigit) else { return false }
    return labels.allSatisfy { label in
      (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
        && label.allSatisfy { isDigit($0) || $0 == UInt8(ascii: "-") || (0x61...0x7a).contains($0) }
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
