import CAvahi
import Testing

@testable import PeerDiscovery

@Suite("Avahi's values")
struct AvahiValuesTests {
  private func address(_ text: String) throws -> AvahiAddress {
    var address = AvahiAddress()
    try #require(avahi_address_parse(text, AvahiProtocol(AVAHI_PROTO_UNSPEC), &address) != nil)
    return address
  }

  @Test(
    "Only a link-local IPv6 address is completed by its interface",
    arguments: [
      ("10.77.0.1", "10.77.0.1"), ("169.254.1.2", "169.254.1.2"), ("254.128.0.1", "254.128.0.1"),
      ("fe80::1", "fe80::1%eth7"), ("febf::1", "febf::1%eth7"), ("fec0::1", "fec0::1"), ("fd00::1", "fd00::1"),
    ])
  func addressText(parsed: String, expected: String) throws {
    #expect(AvahiValues.text(try address(parsed), interface: "eth7") == expected)
  }

  @Test("An address says its family")
  func family() throws {
    #expect(AvahiValues.family(try address("10.0.0.1").proto) == .ipv4)
    #expect(AvahiValues.family(try address("::1").proto) == .ipv6)
    #expect(AvahiValues.family(AvahiProtocol(AVAHI_PROTO_UNSPEC)) == nil)
  }

  @Test("An interface that has gone is named by its index", arguments: [Int32.max, 0, -1])
  func goneInterface(index: Int32) {
    #expect(AvahiValues.interfaceName(index) == String(index))
  }

  @Test("A string list is built so that Avahi sends it in order")
  func listOrder() {
    let sent = AvahiValues.withList(of: [Array("a=1".utf8), Array("b=2".utf8)]) { list -> [UInt8] in
      // What Avahi itself does to send a list.
      var packet = [UInt8](repeating: 0, count: 64)
      let count = avahi_string_list_serialize(list, &packet, packet.count)
      return Array(packet.prefix(count))
    }
    #expect(sent == [3] + Array("a=1".utf8) + [3] + Array("b=2".utf8))
  }

  @Test("A string may hold any byte, and none")
  func listBytes() {
    let strings = AvahiValues.withList(of: [[0, 0xFF, 0x3D]]) { AvahiValues.strings($0) }
    #expect(strings == [[0, 0xFF, 0x3D]])
    #expect(AvahiValues.strings(nil) == [])
  }
}
