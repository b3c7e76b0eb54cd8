import CAvahi
import Foundation

/// Conversions between Avahi's C values and Swift values.
enum AvahiValues {
  /// Returns the bytes before the terminating zero.
  static func bytes(_ string: UnsafePointer<CChar>) -> [UInt8] {
    UnsafeRawBufferPointer(start: string, count: strlen(string)).map { $0 }
  }

  /// Returns the strings of a resolved TXT record, in the order in which they were sent.
  static func strings(_ list: UnsafeMutablePointer<AvahiStringList>?) -> [[UInt8]] {
    var strings: [[UInt8]] = []
    var next = list
    while let node = next {
      let text = UnsafeBufferPointer(start: avahi_string_list_get_text(node), count: avahi_string_list_get_size(node))
      strings.append(Array(text))
      next = avahi_string_list_get_next(node)
    }
    return strings
  }

  /// Calls `body` with a list that is sent in the order of `strings`: Avahi builds lists from the back and reverses
  /// them when sending.
  static func withList<Result>(
    of strings: [[UInt8]], _ body: (UnsafeMutablePointer<AvahiStringList>?) -> Result
  ) -> Result {
    var list: UnsafeMutablePointer<AvahiStringList>?
    for string in strings {
      list = avahi_string_list_add_arbitrary(list, string, string.count) ?? list
    }
    defer { avahi_string_list_free(list) }
    return body(list)
  }

  static func family(_ proto: AvahiProtocol) -> DiscoveredService.AddressFamily? {
    switch Int(proto) {
    case AVAHI_PROTO_INET: .ipv4
    case AVAHI_PROTO_INET6: .ipv6
    default: nil
    }
  }

  /// Returns the address in network byte order: 4 bytes for IPv4, 16 for IPv6.
  static func bytes(_ address: AvahiAddress) -> [UInt8] {
    withUnsafeBytes(of: address.data) { Array($0.prefix(Int(address.proto) == AVAHI_PROTO_INET ? 4 : 16)) }
  }

  /// Returns the numeric form of the address in an A or AAAA record; nil if it has another length or may not be connected to
  /// (``ConnectableAddress``).
  static func text(
    ofRecord data: [UInt8], _ family: DiscoveredService.AddressFamily, interface: String
  ) -> String? {
    guard data.count == (family == .ipv4 ? 4 : 16),
      ConnectableAddress.isUsable(data, isFromLoopback: interface == "lo")
    else { return nil }
    var address = AvahiAddress()
    address.proto = (family == .ipv4 ? AVAHI_PROTO_INET : AVAHI_PROTO_INET6).asCode
    withUnsafeMutableBytes(of: &address.data) { $0.copyBytes(from: data) }
    return text(address, interface: interface)
  }

  /// Returns the numeric form of an address; a link-local IPv6 address gets `%` and `interface`.
  static func text(_ address: AvahiAddress, interface: String) -> String? {
    var address = address
    var buffer = [CChar](repeating: 0, count: Int(AVAHI_ADDRESS_STR_MAX))
    guard avahi_address_snprint(&buffer, buffer.count, &address) != nil else { return nil }
    let text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let isLinkLocal = withUnsafeBytes(of: address.data) { $0[0] == 0xFE && $0[1] & 0xC0 == 0x80 }
    return Int(address.proto) == AVAHI_PROTO_INET6 && isLinkLocal ? "\(text)%\(interface)" : text
  }

  static func interfaceName(_ index: AvahiIfIndex) -> String {
    var buffer = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    guard index > 0, if_indextoname(UInt32(index), &buffer) != nil else { return String(index) }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
