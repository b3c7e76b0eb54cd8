import PeerProtocol
import Testing

@Suite struct PairingCodeTests {
  @Test(arguments: ["042195", "042 195", "042-195", " 0 4 2 1 9 5 ", "--042195"])
  func readsWhatPeopleType(text: String) { #expect(PairingCode(text)?.digits == "042195") }

  @Test(
    arguments: [
      "", "04219", "0421950", "04219a", "٠٤٢١٩٥", "０４２１９５", "+42195", "042195\n", "042.195", "\u{0}42195",
      String(repeating: " ", count: 100) + "042195",
    ])
  func refusesOtherText(text: String) { #expect(PairingCode(text) == nil) }

  @Test func groupsForTheScreen() { #expect(PairingCode("482913")?.grouped == "482 913") }

  @Test func neverDescribesItsDigits() throws {
    let code = try #require(PairingCode("482913"))
    var dumped = ""
    dump([code], to: &dumped)
    for text in ["\(code)", "\([code])", String(reflecting: code), "\(Optional(code) as Any)", dumped] {
      #expect(!text.contains("482"))
      #expect(!text.contains("913"))
    }
  }
}
