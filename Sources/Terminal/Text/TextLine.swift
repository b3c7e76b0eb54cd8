/// A line of text with one attribute, which can be wrapped into several lines.
public struct TextLine: Sendable, Equatable {
  /// The text, without a line feed.
  public var text: String
  /// The attribute of the text; `nil` for plain text.
  public var attribute: Style.Attribute?

  /// Creates a line.
  ///
  /// - Parameter text: Text that is already safe for a terminal. Leading spaces are kept as indentation when it is
  ///   wrapped.
  public init(_ text: String, _ attribute: Style.Attribute? = nil) {
    self.text = text
    self.attribute = attribute
  }

  /// Returns the text with its attribute in a style.
  public func painted(_ style: Style) -> String {
    attribute.map { style.applying($0, to: text) } ?? text
  }

  /// Returns lines of at most `columns` columns, broken at spaces. A word is broken only if it is too long for a
  /// line.
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
