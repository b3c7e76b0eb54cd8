import Testing

@testable import Destinations

/// Tests that invalid TOML is reported as an error with its position. Some of these texts used to crash the
/// underlying parser.
@Suite("Syntax of settings") struct TOMLSyntaxTests {
  /// Invalid texts, with the line and column of the error.
  private static let texts: [(text: String, line: Int, column: Int)] = [
    // Headers.
    ("[", 1, 1), ("[]", 1, 1), ("[[", 1, 1), ("[[]]", 1, 1), ("[ ]", 1, 1), ("[.a]", 1, 1), ("[\n", 1, 1),
    ("[\r\n", 1, 1),
    ("[#", 1, 1), ("[,", 1, 1), ("[}", 1, 1), ("[+a]", 1, 1), ("[\\u0041]", 1, 1), ("[\u{A0}a]", 1, 1), ("[ü]", 1, 1),
    ("[\u{7F}]", 1, 1), ("\u{FEFF}[|", 1, 2), ("a = 1\n [[}e]]]]", 2, 2), ("[a..b]", 1, 4), ("[a.]", 1, 4),
    ("[a", 1, 3),
    ("[a b]", 1, 4), ("[[a]", 1, 4), ("[[a] ]", 1, 4), ("[a]]", 1, 4), ("[a] b", 1, 5), ("[\"a]", 1, 2), ("['a]", 1, 2),
    ("[a.\"b\nc\"]", 1, 4),
    // Keys.
    ("= 1", 1, 1), ("a", 1, 2), ("a 1", 1, 3), ("a. = 1", 1, 4), (".a = 1", 1, 1), ("a..b = 1", 1, 3), ("ä = 1", 1, 1),
    ("\"\"\"a\"\"\" = 1", 1, 3), ("a = 1 b = 2", 1, 7), ("a = 1,", 1, 6), ("}", 1, 1), ("a\u{2028} = 1", 1, 2),
    // Texts.
    ("a = \"", 1, 5), ("a = \"b\n\"", 1, 5), ("a = 'b\n'", 1, 5), ("a = \"\"\"b", 1, 5), ("a = '''b''", 1, 5),
    ("a = \"\\x\"", 1, 6), ("a = \"\\", 1, 6), ("a = \"\\u12\"", 1, 6), ("a = \"\\uD800\"", 1, 6),
    ("a = \"\\U00110000\"", 1, 6), ("a = \"\u{1}\"", 1, 6), ("a = \"é\u{1B}\"", 1, 7), ("a = '\u{7F}'", 1, 6),
    ("a = \"\"\"\n\u{8}\"\"\"", 2, 1), ("a = \"b\" \"c\"", 1, 9), ("a = b", 1, 5), ("# \u{2}", 1, 3),
    ("a = 1 \r", 1, 7),
    // Lists and tables.
    ("a = [", 1, 5), ("a = [1", 1, 5), ("a = [1 2]", 1, 8), ("a = [,]", 1, 6), ("a = [\"b\",} \"c\"]", 1, 10),
    ("a = [\u{2028}\"b\"]", 1, 6), ("a = [[[", 1, 7), ("a = ]", 1, 5), ("a = {", 1, 6), ("a = {b}", 1, 7),
    ("a = {b = 1", 1, 5), ("a = {b = 1,}", 1, 12), ("a = {b = 1\n}", 1, 5), ("a = {, b = 1}", 1, 6),
    // Numbers, dates, truth.
    ("a = ", 1, 5), ("a = tru", 1, 5), ("a = True", 1, 5), ("a = 01", 1, 5), ("a = 1__0", 1, 5), ("a = _1", 1, 5),
    ("a = 1.", 1, 5), ("a = .5", 1, 5), ("a = 1e", 1, 5), ("a = 0xg", 1, 5), ("a = +0x1", 1, 5),
    ("a = 1979-05-27T", 1, 5),
    ("a = 1979-05-27Te7:32:00", 1, 5), ("a = 1979-05-27T:32:00", 1, 5), ("a = 1979-05-27T07:32", 1, 5),
    ("a = 1979-05-27T07:32:00+1:00", 1, 5), ("a = 1979-5-27", 1, 5), ("a = 07:32:00Z", 1, 5),
    ("a = 2024-13-40 1", 1, 5),
    ("a = --1", 1, 5), ("a = ++inf", 1, 5), ("a = 1.2.3", 1, 5), ("a = 10.0.0.1", 1, 5),
  ]

  @Test("what is no TOML is told with its place", arguments: texts)
  func malformed(_ text: String, _ line: Int, _ column: Int) throws {
    let error = #expect(throws: SettingsFileError.self) { try SettingsFile(text: text, path: "config.toml") }
    #expect((error?.line, error?.column) == (line, column), "\(error.map { "\($0)" } ?? "")")
    #expect(error?.reason.hasSuffix(".") == true)
  }

  @Test(
    "what only the parser finds is told with its place, too",
    arguments: [
      "a = 99999999999999999999", "a = 1e99999", "a = 2024-13-01", "a = 2024-02-30", "a = 25:00:00", "a = 1\na = 2",
      "[a]\n[a]", "[a]\nb = 1\n[a.b]", "a = [1]\n[[a]]", "a = {b = 1}\n[a.c]", "[[a]]\n[a]",
      "a = 1979-05-27T00:00:00+99:99",
    ])
  func meaningless(_ text: String) {
    #expect(TOMLSyntax.mistake(in: text) == nil)
    let error = #expect(throws: SettingsFileError.self) { try SettingsFile(text: text, path: "config.toml") }
    #expect(error?.line != nil && error?.column != nil)
  }

  @Test("what is long or nested without end is an error, and ends")
  func endless() {
    for part in ["[", "[[", "{a=", "a.", "a.b=[", "\"", "\"\"\"", "'", "\\", "[a.", "1", "a=1\n", "-", "\"\\u"] {
      for beginning in ["", "a = ", "[a]\nb = "] {
        let text = beginning + String(repeating: part, count: 20_000)
        #expect(throws: SettingsFileError.self) { try SettingsFile(text: text, path: "config.toml") }
      }
    }
    let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
    #expect(TOMLSyntax.mistake(in: "a = \(deep)")?.column == 69)
    #expect(TOMLSyntax.mistake(in: "a = \(deep.dropFirst().dropLast())") == nil)
  }

  @Test(
    "what is TOML is left alone",
    arguments: [
      "", "\u{FEFF}# c\r\n\r\na = 1 # d", "a.b . \"c d\".'e' = true\n[f]\n[[g.h]]\n[[g.h]]",
      "a = \"\\u00e9 \\\\ \\\"\"",
      "a = \"\"\"\nb\\\n   c \"\" d\"\"\"\"\"\nb = '''\n'' [x\n'''''",
      "a = [ 1,\n # c\n 2,\n]\nb = []\nc = {}\nd = { e.f = [{g = 1}] }",
      "a = 1979-05-27T07:32:00.123-07:00\nb = 1979-05-27 07:32:00\nc = 07:32:00\nd = 2024-06-15",
      "a = +1_0.5e-10\nb = -inf\nc = nan\nd = 0xDEAD_beef\ne = 0o17\nf = 0b1_0\ng = 0\nh = -0.0\ni = 1e06",
      "1 = 1\n-_ = 2",
      "\"\" = 1", "a = '\t'",
    ])
  func good(_ text: String) {
    #expect(TOMLSyntax.mistake(in: text) == nil)
  }
}
