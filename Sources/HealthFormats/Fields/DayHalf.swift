import Foundation

/// Which half of the day a 12-hour clock speaks of, in the words of the languages that Apple's devices print.
enum DayHalf {
  case morning, afternoon

  /// `nil` for words that are none of those known, and for none. Spaces of any width, full stops and case do not matter.
  init?(_ text: some StringProtocol) {
    let word = Self.letters(text)
    if Self.morningWords.contains(word) {
      self = .morning
    } else if Self.afternoonWords.contains(word) {
      self = .afternoon
    } else {
      return nil
    }
  }

  /// The hour of 24 of an hour of 12; `nil` for one that such a clock does not have.
  func hour(_ hour: Int) -> Int? {
    guard (1...12).contains(hour) else { return nil }
    return hour % 12 + (self == .afternoon ? 12 : 0)
  }

  /// CLDR's abbreviated day periods, letters only. None is in both.
  private static let morningWords = Set(
    [
      "am", "a", "上午", "午前", "오전", "ص", "صباحا", "πμ", "vorm", "vm", "fm", "ap", "dop", "dopoledne", "de", "öö", "sa",
      "पूर्वाह्न", "ก่อนเที่ยง",
    ].map(letters))
  private static let afternoonWords = Set(
    [
      "pm", "p", "下午", "午後", "오후", "م", "مساء", "μμ", "nachm", "nm", "em", "ip", "odp", "odpoledne", "du", "ös", "ch",
      "अपराह्न", "หลังเที่ยง",
    ].map(letters))

  private static func letters(_ text: some StringProtocol) -> String {
    var letters = String.UnicodeScalarView()
    letters.append(contentsOf: text.lowercased().unicodeScalars.lazy.filter(\.properties.isAlphabetic))
    return String(letters)
  }
}
