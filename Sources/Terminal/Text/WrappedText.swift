/// A word wrapper for a window, where a terminal itself would break long lines anywhere.
public enum WrappedText {
  private static let escape: Character = "\u{1B}"

  /// Returns the lines of `text` in a window of `columns` columns.
  ///
  /// Continuation lines are indented like their line or, if that begins with a mark such as a bullet, below its text.
  /// A word that is too long for a line stays whole, so that an address can be copied. Text between backquotes is
  /// kept together if possible.
  ///
  /// - Parameter text: Text that is already safe for a terminal; it may hold line feeds and styled text.
  public static func lines(of text: String, columns: Int) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { wrapped($0, columns) }
  }

  private static func wrapped(_ line: Substring, _ columns: Int) -> [String] {
    guard width(line) > columns else { return [String(line)] }
    var parts = parts(of: line, columns)
    guard let first = parts.first else { return [String(line)] }
    parts.removeFirst()
    let hasMark = visible(first.word).count == 1 && !visible(first.word).contains { $0.isLetter || $0.isNumber }
    let indent = first.spaces + (hasMark ? 2 : 0)
    var lines: [String] = []
    var current = placed(first.word, first.spaces, columns)
    for part in parts {
      let joined = current + String(repeating: " ", count: part.spaces) + part.word
      if width(joined) <= columns {
        current = joined
      } else {
        lines.append(current)
        current = placed(part.word, indent, columns)
      }
    }
    // A line break takes the place of the spaces before a word. A space at the end belongs to a prompt.
    if line.last == " ", width(current) < columns { current += " " }
    return lines + [current]
  }

  /// Returns a word at the beginning of a line, with less indentation if it would not fit otherwise.
  private static func placed(_ word: Substring, _ indent: Int, _ columns: Int) -> String {
    String(repeating: " ", count: min(indent, max(0, columns - width(word)))) + word
  }

  private struct Part {
    /// The number of spaces before the word.
    var spaces: Int
    var word: Substring
  }

  private static func parts(of line: Substring, _ columns: Int) -> [Part] {
    var parts: [Part] = []
    var rest = line
    while true {
      let spaces = rest.prefix { $0 == " " }.count
      rest = rest.dropFirst(spaces)
      if rest.isEmpty { return parts }
      var word = rest.prefix { $0 != " " }
      // A command with its arguments.
      if word.count(where: { $0 == "`" }) % 2 == 1, let close = rest[word.endIndex...].firstIndex(of: "`") {
        let end = rest[close...].firstIndex(of: " ") ?? rest.endIndex
        if width(rest[..<end]) <= columns { word = rest[..<end] }
      }
      parts.append(Part(spaces: spaces, word: word))
      rest = rest[word.endIndex...]
    }
  }

  private static func width(_ text: some StringProtocol) -> Int { DisplayWidth.of(visible(text)) }

  /// Returns the text without its style sequences.
  private static func visible(_ text: some StringProtocol) -> String {
    guard text.contains(escape) else { return String(text) }
    var (visible, isInSequence) = ("", false)
    for character in text {
      if isInSequence {
        isInSequence = !character.isLetter
      } else if character == escape {
        isInSequence = true
      } else {
        visible.append(character)
      }
    }
    return visible
  }
}
