import OperatingSystem
import Testing

@Suite("Words for a shell")
struct ShellWordTests {
  @Test("are quoted where they need it, and only there")
  func quoting() {
    #expect(ShellWord.quoted("/home/anna/.local") == "/home/anna/.local")
    #expect(ShellWord.quoted("a b") == "'a b'")
    #expect(ShellWord.quoted("it's; rm -rf /") == "'it'\\''s; rm -rf /'")
    #expect(
      ShellWord.quoted("it'\u{301}; rm -rf /").unicodeScalars.elementsEqual("'it'\\''\u{301}; rm -rf /'".unicodeScalars)
    )
    #expect(ShellWord.quoted("") == "''")
  }
}
