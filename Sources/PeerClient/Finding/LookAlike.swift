import Foundation

/// A check for names that look alike because their letters have the same shape (Unicode Technical Standard #39).
public enum LookAlike {
  /// The Latin letters that look like Cyrillic, Greek and other letters and like digits.
  private static let shapes: [Character: Character] = [
    "а": "a", "в": "b", "е": "e", "ё": "e", "к": "k", "м": "m", "н": "h", "о": "o", "р": "p", "с": "c", "т": "t",
    "у": "y", "х": "x", "і": "l", "ї": "l", "ј": "j", "ѕ": "s", "ԁ": "d", "ԛ": "q", "ԝ": "w", "һ": "h", "ӏ": "l",
    "α": "a",
    "β": "b", "ε": "e", "ι": "l", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "τ": "t", "υ": "u", "χ": "x", "0": "o",
    "1": "l", "i": "l", "ı": "l", "|": "l", "ɡ": "g", "ɩ": "l",
  ]

  /// Returns whether two names look the same but differ.
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
