import PeerProtocol
import Testing

@Suite struct PeerNameTests {
  @Test(arguments: ["studio", "Zoë's Mac ✓", "Dach 100%", "a b", "書斎"])
  func aNameComesBack(_ name: String) {
    let header = PeerName.encoded(name)
    #expect(header.utf8.allSatisfy { (0x21..<0x7f).contains($0) })
    #expect(PeerName.decoded(header) == name)
  }

  @Test(
    "what pairing would not send is no name",
    arguments: [
      "", "%", "%ff", "%1b%5b31m", "%20studio", "a%00b", String(repeating: "a", count: 65),
      String(repeating: "%61", count: 65),
    ])
  func refused(_ header: String) { #expect(PeerName.decoded(header) == nil) }
}
