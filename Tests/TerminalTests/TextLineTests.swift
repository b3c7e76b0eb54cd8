import Testing

@testable import Terminal

@Suite struct TextLineTests {
  @Test(arguments: [
    ("short", 10, ["short"]),
    ("exactly 10", 10, ["exactly 10"]),
    ("one two three", 8, ["one two", "three"]),
    ("  one two three", 8, ["  one", "  two", "  three"]),
    ("--host [2001:db8::1]:8737", 10, ["--host", "[2001:db8:", ":1]:8737"]),
    ("ÄÖÜ 日本語", 5, ["ÄÖÜ", "日本", "語"]),
    ("", 3, [""]), ("abc", 1, ["a", "b", "c"]), ("   abc", 2, [" a", " b", " c"]),
  ])
  func linesAreBrokenAtSpacesFirst(_ text: String, _ columns: Int, _ expected: [String]) {
    #expect(TextLine(text).wrapped(to: columns).map(\.text) == expected)
  }

  @Test func everyPieceIsSetApart() {
    #expect(TextLine("one two", .bold).wrapped(to: 4) == [TextLine("one", .bold), TextLine("two", .bold)])
    #expect(TextLine("one", .bold).painted(Style(isEnabled: true)) == "\u{1b}[1mone\u{1b}[22m")
    #expect(TextLine("one", .bold).painted(.plain) == "one")
  }
}
