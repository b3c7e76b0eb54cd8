import Foundation

/// Names that people take for one another, because their letters have one shape (Unicode Technical Standard #39).
public enum LookAlike {
  /// Letters of Cyrillic, Greek and others that look like a Latin one, and digits that do.
  private static let shapes: [Character: Character] = [
    "а": "a", "в": "b", "е": "e", "ё": "e", "к": "k", "м": "m", "н": "h", "о": "o", "р": "p", "с": "c", "т": "t",
    "у": "y", "х": "x", "і": "l", "ї": "l", "ј": "j", "ѕ": "s", "ԁ": "d", "ԛ": "q", "ԝ": "w", "һ": "h", "ӏ": "l", "α": "a",
    "β": "b", "ε": "e", "ι": "l", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "τ": "t", "υ": "u", "χ": "x", "0": "o",
    "1": "l", "i": "l", "ı": "l", "|": "l", "ɡ": "g", "ɩ": "l",
  ]

  /// Whether two names look the same and are not.
  ///
  /// ```swift
  /// print(LookAlike.areConfusable("studio", "ѕtudiο"))  // true
  /// ```
  public static func areConfusable(_ one: String, _ other: String) -> Bool {
    one != other && one.lowercased() != other.lowercased() && skeleton(one) == skeleton(other)
  }

  private static func skeleton(_ name: String) -> String {
    String(
      name.lowercased().decomposedStringWithCompatibilityMapping.compactMap { letter in
        let bare = letter.unicodeScalars.first.map(Character.init) ?? letter
        return bare.isLetter || bare.isNumber || bare == "|" ? shapes[bare] ?? bare : nil
      })
  }
}
