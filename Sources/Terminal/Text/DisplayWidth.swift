/// A measure of text in terminal columns: an approximation of `wcwidth(3)` that does not depend on the locale.
public enum DisplayWidth {
  /// Returns the number of columns that a text on one line takes.
  public static func of(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + of($1) }
  }

  /// Returns the width of a character: 0, 1 or 2. A character made of several scalars is as wide as its first visible
  /// one, or 2 with an emoji selector.
  static func of(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    if scalars.contains("\u{FE0F}") { return 2 }
    return scalars.lazy.map(width).first { $0 > 0 } ?? 0
  }

  /// Returns `text` in exactly `columns` columns, cut or with trailing spaces.
  public static func padded(_ text: String, to columns: Int) -> String {
    let cut = truncated(text, to: columns)
    return cut + String(repeating: " ", count: max(0, columns - of(cut)))
  }

  /// Returns `text` in at most `columns` columns. Text that is cut ends in `…`.
  static func truncated(_ text: String, to columns: Int) -> String {
    guard of(text) > columns else { return text }
    guard columns > 0 else { return "" }
    var result = ""
    var used = 0
    for character in text {
      let width = of(character)
      guard used + width < columns else { break }
      result.append(character)
      used += width
    }
    return result + "…"
  }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return 1 }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if properties.isEmojiPresentation { return 2 }
    switch scalar.value {
    case 0x1160...0x11FF: return 0  // Hangul vowels and finals join the syllable before them
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      return 2  // East Asian Wide and Fullwidth (Unicode Standard Annex #11)
    default: return 1
    }
  }
}
