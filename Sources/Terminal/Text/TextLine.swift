/// A line of text with one way to set it apart, broken into several where it is too long.
public struct TextLine: Sendable, Equatable {
  /// Without a line feed.
  public var text: String
  /// `nil` for plain text.
  public var attribute: Style.Attribute?

  /// - Parameter text: fit for a terminal already; spaces at its beginning are kept when it is broken.
  public init(_ text: String, _ attribute: Style.Attribute? = nil) {
    self.text = text
    self.attribute = attribute
  }

  /// The line in the style's colours.
  public func painted(_ style: Style) -> String {
    attribute.map { style.applying($0, to: text) } ?? text
  }

  /// Lines of at most `columns` columns, broken at spaces, and within a word only where that alone is too long.
  func wrapped(to columns: Int) -> [TextLine] {
    guard DisplayWidth.of(text) > columns else { return [self] }
    let indent = String(text.prefix { $0 == " " }.prefix(max(0, columns - 1)))
    let width = max(1, columns - indent.count)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      let joined = line.isEmpty ? String(word) : line + " " + word
      if DisplayWidth.of(joined) <= width {
        line = joined
        continue
      }
      if !line.isEmpty { lines.append(line) }
      line = ""
      for character in word {
        if DisplayWidth.of(line) + DisplayWidth.of(character) > width, !line.isEmpty {
          lines.append(line)
          line = ""
        }
        line.append(character)
      }
    }
    if !line.isEmpty { lines.append(line) }
    return lines.map { TextLine(indent + $0, attribute) }
  }
}
