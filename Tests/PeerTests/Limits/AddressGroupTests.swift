import NIOCore
import Testing

@testable import PeerServer

@Suite("Who counts as one caller")
struct AddressGroupTests {
  private func group(_ text: String) throws -> AddressGroup {
    AddressGroup(try SocketAddress(ipAddress: text, port: 1))
  }

  @Test("each IPv4 address by itself, also when it is mapped into IPv6")
  func ipv4() throws {
    #expect(try group("192.168.1.2") == group("192.168.1.2"))
    #expect(try group("192.168.1.2") != group("192.168.1.3"))
    #expect(try group("::ffff:192.168.1.2") == group("192.168.1.2"))
    #expect(try group("::ffff:192.168.1.2") != group("::ffff:192.168.1.3"))
  }

  @Test("each IPv6 /64")
  func ipv6() throws {
    #expect(try group("2001:db8:0:1::2") == group("2001:db8:0:1:ffff:ffff:ffff:ffff"))
    #expect(try group("2001:db8:0:1::2") != group("2001:db8:0:2::2"))
    #expect(try group("::1") != group("127.0.0.1"))
    #expect(AddressGroup(nil) == .unknown)
  }
}
