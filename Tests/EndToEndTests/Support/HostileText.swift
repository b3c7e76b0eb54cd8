import Testing

/// Text that contains every kind of character that must not reach a terminal.
enum HostileText {
  static let name = "evil\u{1B}[31m\u{7}\r\n\t\u{202E}\u{2066}\u{200B}\u{9B}2J\u{85}\u{2028}\u{FEFF}\u{7F}end"

  /// Returns the scalars of `text` that a terminal would act on or hide, except for colours and line ends.
  static func leaks(in text: String) -> [Unicode.Scalar] {
    let plain = text.replacing(#/\u{1B}\[[0-9;]*m/#, with: "").replacing("\r\n", with: "\n")
    return plain.unicodeScalars.filter { scalar in
      switch scalar.properties.generalCategory {
      case .control: scalar != "\n"
      case .lineSeparator, .paragraphSeparator: true
      case .format: scalar.properties.isDefaultIgnorableCodePoint && scalar != "\u{200C}" && scalar != "\u{200D}"
      default: false
      }
    }
  }
}

extension Outcome {
  /// Fails the test if anything but plain text was written.
  func expectPlain(_ what: String, sourceLocation: SourceLocation = #_sourceLocation) {
    for (name, text) in [("output", output), ("errors", errors)] {
      // Not on a terminal, so not even colours.
      #expect(
        !text.contains("\u{1B}") && HostileText.leaks(in: text) == [], "\(what) \(name): \(text.debugDescription)",
        sourceLocation: sourceLocation)
    }
  }
}
