import Foundation

/// The names and addresses of this machine that a certificate for its inbox is valid for.
public struct InboxHostNames: Hashable, Sendable, Codable {
  /// The DNS and mDNS names, in lower case, sorted.
  public let names: [String]
  /// The numeric addresses, sorted. IPv6 addresses have no zone.
  public let addresses: [String]

  /// Creates the host names, ignoring names and addresses that a certificate cannot contain.
  ///
  /// - Parameters:
  ///   - hostName: this machine's host name, with or without its domain. Its first part with `.local` is added. The
  ///     first part alone is left out: an authority for `app` may sign for every site below it (RFC 5280 section
  ///     4.2.1.10).
  ///   - addresses: the addresses at which other machines reach it.
  public init(hostName: String, addresses: [String]) {
    let whole = hostName.lowercased()
    let short = String(whole.prefix { $0 != "." })
    let dotted = [whole, "\(short).local"].filter { $0.contains(".") }
    names = Set(dotted + ["localhost"]).filter(Self.isName).sorted()
    self.addresses = Set(addresses + ["127.0.0.1", "::1"]).filter { Self.mask(of: $0) != nil }.sorted()
  }

  private init(names: [String], addresses: [String]) { (self.names, self.addresses) = (names, addresses) }

  /// Returns the names and addresses that are in both.
  func intersection(_ other: Self) -> Self {
    Self(names: names.filter(other.names.contains), addresses: addresses.filter(other.addresses.contains))
  }

  /// The value of `subjectAltName`.
  var alternativeNames: String {
    (names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }).joined(separator: ",")
  }

  /// The value of `nameConstraints`. It contains an address of each family, because a family without one is not
  /// constrained.
  var constraints: String {
    let names = names.map { "permitted;DNS:\($0)" }
    let addresses = addresses.compactMap { address in Self.mask(of: address).map { "permitted;IP:\(address)/\($0)" } }
    return (["critical"] + names + addresses).joined(separator: ",")
  }

  /// Whether names and addresses read from a file are valid.
  var isValid: Bool {
    !names.isEmpty && names.allSatisfy(Self.isName) && addresses.allSatisfy { Self.mask(of: $0) != nil }
  }

  private static func isName(_ text: String) -> Bool {
    (1...253).contains(text.utf8.count) && text.first != "." && text.last != "."
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
          UInt8(ascii: "."):
          true
        default: false
        }
      }
  }

  /// Returns the mask for a single address; `nil` if the text is not an address.
  private static func mask(of address: String) -> String? {
    var ipv4 = in_addr()
    var ipv6 = in6_addr()
    if inet_pton(AF_INET, address, &ipv4) == 1 { return "255.255.255.255" }
    if inet_pton(AF_INET6, address, &ipv6) == 1 { return Array(repeating: "ffff", count: 8).joined(separator: ":") }
    return nil
  }
}
