import Testing

@testable import HealthModel

@Suite struct ShortenedTextTests {
  @Test("a text is cut by its bytes, between two scalars, whatever a character is")
  func cut() {
    #expect("abc".shortened(toBytes: 3) == "abc")
    #expect("abcd".shortened(toBytes: 3) == "abc")
    #expect("aé".shortened(toBytes: 2) == "a")
    #expect("👍🏽x".shortened(toBytes: 7).unicodeScalars.count == 1)
    #expect("é".shortened(toBytes: 0).isEmpty && "".shortened(toBytes: 5).isEmpty)
    let endless = "a" + String(repeating: "\u{301}", count: 1_000_000)
    #expect(endless.count == 1 && endless.shortened(toBytes: 100).utf8.count == 99)
  }
}
