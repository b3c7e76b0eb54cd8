/// Quotes what a person is to copy into a POSIX shell.
public enum ShellWord {
  /// `word`, in quotes if it needs them, so that a command can be copied whatever it contains.
  public static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/._-+:%@".utf8.contains(byte)
      }
    }
    if isPlain, !word.isEmpty { return word }
    // Not by characters: a quote and a combining mark after it are one, and a quote to the shell all the same.
    let parts = word.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
    return "'\(parts.joined(separator: "'\\''"))'"
  }
}
