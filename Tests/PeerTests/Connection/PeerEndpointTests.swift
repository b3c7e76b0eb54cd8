import PeerClient
import Testing

@Suite("Endpoints as people write them")
struct PeerEndpointTests {
  @Test(
    "hosts and ports are told apart",
    arguments: [
      ("studio", "studio", 8737), ("studio.local:9000", "studio.local", 9000), ("192.168.1.20", "192.168.1.20", 8737),
      ("192.168.1.20:1", "192.168.1.20", 1), ("studio:65535", "studio", 65_535), ("::1", "::1", 8737),
      ("[::1]", "::1", 8737), ("[::1]:80", "::1", 80), ("fe80::1%eth0", "fe80::1%eth0", 8737),
      ("[fe80::1%eth0]:80", "fe80::1%eth0", 80), ("2001:db8::8737", "2001:db8::8737", 8737),
    ])
  func right(text: String, host: String, port: Int) {
    #expect(PeerEndpoint(text, defaultPort: 8737) == PeerEndpoint(host: host, port: port))
  }

  @Test(
    "what is neither is refused",
    arguments: [
      "", ":80", "studio:", "studio:0", "studio:65536", "studio:-1", "studio:+80", "studio:8o", "studio: 80",
      "studio:99999999999999999999", "[::1", "[]", "[]:80", "[::1]80", "[::1]:", "[::1]:x", "https://studio",
      "stu dio", " studio", "studio\n", "studio:\u{661}",
    ])
  func wrong(text: String) {
    #expect(PeerEndpoint(text, defaultPort: 8737) == nil)
  }

  @Test("the description can be read back")
  func description() {
    for endpoint in [
      PeerEndpoint(host: "studio.local", port: 1), PeerEndpoint(host: "fe80::1%eth0", port: 8737),
      PeerEndpoint(host: "10.0.0.1", port: 65_535),
    ] {
      #expect(PeerEndpoint(endpoint.description, defaultPort: 2) == endpoint)
    }
  }
}
