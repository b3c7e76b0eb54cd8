/// Quoting for commands that a person copies into a POSIX shell.
public enum ShellWord {
  /// Returns `word`, in quotes if it needs them.
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
    // Split by scalars: a quote with a combining mark is a single character, but still a quote to the shell.
    let parts = word.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
    return "'\(parts.joined(separator: "'\\''"))'"
  }
}
