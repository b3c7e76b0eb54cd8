import Testing

@testable import PeerDiscovery

@Suite("Instance names")
struct InstanceNameTests {
  @Test("Valid UTF-8 from the network is kept, control characters included")
  func keepsValid() {
    #expect(InstanceName.repaired(Array("Küche \u{1B}[31m".utf8)) == "Küche \u{1B}[31m")
  }

  @Test("Invalid UTF-8 from the network is repaired")
  func repairs() {
    #expect(InstanceName.repaired([0x63, 0x61, 0x66, 0xE9, 0x21]) == "caf\u{FFFD}!")
  }

  @Test("A name from the network is cut at the length of a DNS label")
  func cuts() {
    #expect(InstanceName.repaired([UInt8](repeating: 0x61, count: 5000)) == String(repeating: "a", count: 63))
  }

  @Test("A good name is published as it is")
  func publishesAsIs() {
    #expect(InstanceName.publishable("Anna’s studio (2)") == "Anna’s studio (2)")
  }

  @Test("Control characters are not published")
  func dropsControls() {
    #expect(InstanceName.publishable("a\u{0}b\u{7}\u{85}c\n") == "abc")
  }

  @Test("A long name is cut between characters")
  func cutsBetweenCharacters() {
    let family = "👨‍👩‍👧‍👦"
    #expect(family.utf8.count == 25)
    #expect(InstanceName.publishable(String(repeating: family, count: 3)) == family + family)
  }

  @Test("A name of exactly 63 bytes is published whole")
  func longestName() {
    let name = String(repeating: "ü", count: 31) + "x"
    #expect(InstanceName.publishable(name) == name)
  }

  @Test("Nothing is cut out of the middle")
  func cutsOnlyTheEnd() {
    let name = String(repeating: "x", count: 62) + "üy"
    #expect(InstanceName.publishable(name) == String(repeating: "x", count: 62))
  }

  @Test("When nothing is left, there is still a name", arguments: ["", "  ", "\n\t", "\u{0}"])
  func fallback(name: String) {
    #expect(InstanceName.publishable(name) == "hpeer")
  }
}
