import CAvahi
import Testing

@testable import PeerDiscovery

@Suite("Which announced addresses may be connected to")
struct ConnectableAddressTests {
  private func isUsable(_ text: String, isFromLoopback: Bool = false) throws -> Bool {
    var address = AvahiAddress()
    try #require(avahi_address_parse(text, AvahiProtocol(AVAHI_PROTO_UNSPEC), &address) != nil)
    return ConnectableAddress.isUsable(AvahiValues.bytes(address), isFromLoopback: isFromLoopback)
  }

  @Test(
    "unicast addresses of other machines",
    arguments: [
      "10.77.0.1", "169.254.1.2", "192.0.2.1", "223.255.255.255", "fe80::1", "fd00::1", "2001:db8::1",
    ])
  func good(address: String) throws {
    #expect(try isUsable(address))
  }

  @Test(
    "never one that names no machine",
    arguments: [
      "0.0.0.0", "0.1.2.3", "224.0.0.251", "239.1.2.3", "240.0.0.1", "255.255.255.255", "::", "ff02::fb",
      "::ffff:224.0.0.1", "::ffff:0.0.0.0", "::ffff:255.255.255.255",
    ])
  func bad(address: String) throws {
    #expect(try !isUsable(address))
    #expect(try !isUsable(address, isFromLoopback: true))
  }

  @Test(
    "loopback only where loopback said so",
    arguments: ["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1", "::127.0.0.1"])
  func loopback(address: String) throws {
    #expect(try !isUsable(address))
    #expect(try isUsable(address, isFromLoopback: true))
  }

  @Test("anything else than 4 or 16 bytes is no address")
  func length() {
    for count in [0, 3, 5, 15, 17] {
      #expect(!ConnectableAddress.isUsable([UInt8](repeating: 10, count: count), isFromLoopback: true))
    }
  }
}
