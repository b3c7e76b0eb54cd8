import Testing

@testable import PeerDiscovery

@Suite("Host names of the local network")
struct HostNameLookupTests {
  @Test(
    "only names under .local are asked for",
    arguments: [
      ("studio.local", true), ("Studio.LOCAL", true), ("studio.local.", true), ("a.b.local", true), ("local", false),
      (".local", false), ("studio", false), ("studio.localdomain", false), ("10.0.0.1", false), ("fe80::1%eth0", false),
      ("", false),
    ])
  func local(host: String, isLocal: Bool) {
    #expect(HostNameLookup.isLocal(host) == isLocal)
  }
}
