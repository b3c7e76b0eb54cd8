import Foundation
import Testing

@testable import Terminal

@Suite struct PlainTextTests {
  @Test(arguments: [
    ("\u{1b}[2J\u{1b}]0;owned\u{7}", "\\u{1b}[2J\\u{1b}]0;owned\\u{7}"),
    ("a\r\nb\tc\0", "a\\u{d}\\u{a}b\\u{9}c\\u{0}"),
    ("\u{7f}\u{9b}31m\u{85}", "\\u{7f}\\u{9b}31m\\u{85}"),
    ("evil\u{202e}gpj.exe", "evil\\u{202e}gpj.exe"),
    ("\u{202a}\u{202b}\u{202c}\u{202d}", "\\u{202a}\\u{202b}\\u{202c}\\u{202d}"),
    ("\u{2066}\u{2067}\u{2068}\u{2069}", "\\u{2066}\\u{2067}\\u{2068}\\u{2069}"),
    ("\u{200e}\u{200f}\u{61c}", "\\u{200e}\\u{200f}\\u{61c}"),
    ("a\u{2028}b\u{2029}c", "a\\u{2028}b\\u{2029}c"),
    ("stu\u{200b}dio\u{feff}\u{2060}\u{ad}", "stu\\u{200b}dio\\u{feff}\\u{2060}\\u{ad}"),
    ("\u{e0041}\u{fff9}", "\\u{e0041}\\u{fff9}"),
  ])
  func whatActsOnATerminalIsShown(_ hostile: String, _ visible: String) {
    #expect(PlainText.escaped(hostile, limit: 200) == visible)
  }

  @Test(arguments: ["Zoë’s MacBook", "書斎", "دفتر", "می‌خواهم", "👩‍👩‍👧‍👦 home", "🇩🇪", "e\u{301}", "back\\slash", ""])
  func ordinaryNamesStayAsTheyAre(_ name: String) {
    #expect(PlainText.escaped(name) == name)
  }

  @Test func longTextIsCutToTheLimitWithAnEllipsis() {
    #expect(PlainText.escaped("abcdefgh", limit: 8) == "abcdefgh")
    #expect(PlainText.escaped("abcdefghi", limit: 8) == "abcdefg…")
    #expect(PlainText.escaped(String(repeating: "x", count: 100_000)).count == 64)
    #expect(PlainText.escaped("abc", limit: 1) == "…")
    #expect(PlainText.escaped("abc", limit: 0).isEmpty)
  }

  @Test func anEscapeIsNeverCutInHalf() {
    #expect(PlainText.escaped("ab\u{1b}cd", limit: 7) == "ab…")
    #expect(PlainText.escaped("ab\u{1b}c", limit: 9) == "ab\\u{1b}c")
    #expect(PlainText.escaped("abcd\u{1b}", limit: 4) == "abc…")
  }

  @Test func stackedMarksAreCut() {
    let smear = "a" + String(repeating: "\u{301}", count: 10_000)
    #expect(PlainText.escaped(smear).unicodeScalars.count == 16)
  }

  @Test("JSON keeps its meaning, and holds nothing that a terminal acts on")
  func json() throws {
    let text = "a\u{1B}[31m\u{9B}2J\u{7F}\u{202E}\u{2028}\u{200B}\u{E0041}\n\"\\\u{200C}ü👩‍👧 "
    let json = String(decoding: try JSONEncoder().encode([text: [text]]), as: UTF8.self)
    let escaped = PlainText.escapedJSON(json)
    #expect(try JSONDecoder().decode([String: [String]].self, from: Data(escaped.utf8)) == [text: [text]])
    #expect(PlainText.escaped(escaped, limit: .max) == escaped)
    #expect(escaped.contains("\\u009b2J\\u007f\\u202e") && escaped.contains("\\udb40\\udc41"))
    #expect(escaped.contains("ü👩‍👧"))
    #expect(PlainText.escapedJSON("{\n  \"a\": 1\n}") == "{\n  \"a\": 1\n}")
  }
}
