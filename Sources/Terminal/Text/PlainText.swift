/// A filter that makes text from elsewhere (device names, TXT records, error messages of a peer) safe to print.
///
/// ```swift
/// print(PlainText.escaped("studio\u{1B}[2J"))                            // studio\u{1b}[2J, as letters
/// print(PlainText.escaped(String(repeating: "a", count: 100), limit: 8))  // aaaaaaa…
/// ```
///
/// Text of this program's own, which may be styled, must not go through the filter.
public enum PlainText {
  /// The maximum number of scalars of one character. No writing system needs more; more are an attempt to smear the
  /// screen.
  private static let scalarsPerCharacter = 16

  /// Returns `text` on one line and cut to `limit` characters, with everything that could move the cursor, reorder
  /// the line or hide in it made visible as `\u{1b}`. The last character of a cut text is `…`.
  ///
  /// Escaped are controls (C0, DEL, C1), line and paragraph separators, bidirectional marks, embeddings, overrides and
  /// isolates (Unicode Standard Annex #9), and every other invisible format character except the joiners U+200C and
  /// U+200D, which Persian, Indic scripts and emoji need.
  public static func escaped(_ text: String, limit: Int = 64) -> String {
    var result = ""
    var count = 0
    var lengthBeforeEllipsis = result.endIndex
    for character in text {
      let visible = escaped(character)
      let length = visible.count
      // Remembered while there is still room for the ellipsis itself.
      if count < limit { lengthBeforeEllipsis = result.endIndex }
      guard count + length <= limit else {
        return limit > 0 ? result[..<lengthBeforeEllipsis] + "…" : ""
      }
      result += visible
      count += length
    }
    return result
  }

  /// Returns the JSON text `json` with everything that ``escaped(_:limit:)`` makes visible written as `\u001b`; its
  /// meaning stays the same. JSON itself requires that of C0 controls only, but a terminal obeys C1 controls as well.
  public static func escapedJSON(_ json: String) -> String {
    guard json.unicodeScalars.contains(where: { isDangerous($0) && $0 != "\n" }) else { return json }
    var result = String.UnicodeScalarView()
    for scalar in json.unicodeScalars {
      // Outside of strings a line feed is layout, and inside of them JSON has escaped it already.
      guard isDangerous(scalar), scalar != "\n" else {
        result.append(scalar)
        continue
      }
      for unit in String(scalar).utf16 {
        let digits = String(unit, radix: 16)
        result.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
      }
    }
    return String(result)
  }

  private static func escaped(_ character: Character) -> String {
    let scalars = character.unicodeScalars
    if scalars.count <= scalarsPerCharacter, !scalars.contains(where: isDangerous) { return String(character) }
    var visible = ""
    for scalar in scalars.prefix(scalarsPerCharacter) {
      if isDangerous(scalar) {
        visible += "\\u{" + String(scalar.value, radix: 16) + "}"
      } else {
        visible.unicodeScalars.append(scalar)
      }
    }
    return visible
  }

  private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20..<0x7F: false
    case 0x200C, 0x200D: false
    case 0xFFF9...0xFFFB: true
    default:
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: true
      case .format: scalar.properties.isDefaultIgnorableCodePoint
      default: false
      }
    }
  }
}
