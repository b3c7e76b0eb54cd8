import Foundation

/// What phones may call this machine: all that a certificate for its inbox is good for.
public struct InboxHostNames: Hashable, Sendable, Codable {
  /// Names of DNS and mDNS, in lower case, sorted.
  public let names: [String]
  /// Numeric addresses, IPv6 without a zone, sorted.
  public let addresses: [String]

  /// Leaves out what is no name or address that a certificate can have.
  ///
  /// - Parameters:
  ///   - hostName: of this machine, with its domain or without; also known as its first part and `.local`. The first
  ///     part alone is left out: who may sign for `app` may sign for every site below it (RFC 5280 section 4.2.1.10).
  ///   - addresses: at which others reach it.
  public init(hostName: String, addresses: [String]) {
    let whole = hostName.lowercased()
    let short = String(whole.prefix { $0 != "." })
    let dotted = [whole, "\(short).local"].filter { $0.contains(".") }
    names = Set(dotted + ["localhost"]).filter(Self.isName).sorted()
    self.addresses = Set(addresses + ["127.0.0.1", "::1"]).filter { Self.mask(of: $0) != nil }.sorted()
  }

  private init(names: [String], addresses: [String]) { (self.names, self.addresses) = (names, addresses) }

  /// What is in both.
  func intersection(_ other: Self) -> Self {
    Self(names: names.filter(other.names.contains), addresses: addresses.filter(other.addresses.contains))
  }

  /// For `subjectAltName`.
  var alternativeNames: String {
    (names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }).joined(separator: ",")
  }

  /// For `nameConstraints`. There is an address of each family, since a family without one would not be constrained.
  var constraints: String {
    let names = names.map { "permitted;DNS:\($0)" }
    let addresses = addresses.compactMap { address in Self.mask(of: address).map { "permitted;IP:\(address)/\($0)" } }
    return (["critical"] + names + addresses).joined(separator: ",")
  }

  /// Read from a file, they are checked as any.
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

  /// The mask of a single address; `nil` for what is none.
  private static func mask(of address: String) -> String? {
    var ipv4 = in_addr()
    var ipv6 = in6_addr()
    if inet_pton(AF_INET, address, &ipv4) == 1 { return "255.255.255.255" }
    if inet_pton(AF_INET6, address, &ipv6) == 1 { return Array(repeating: "ffff", count: 8).joined(separator: ":") }
    return nil
  }
}
