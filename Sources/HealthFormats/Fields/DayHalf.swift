import Foundation

/// The half of the day that a 12-hour clock indicates, in the languages that Apple's devices print.
enum DayHalf {
  case morning, afternoon

  /// Returns `nil` for empty or unknown words. Spaces, full stops and case are ignored.
  init?(_ text: some StringProtocol) {
    if text == "AM" {
      self = .morning
      return
    }
    if text == "PM" {
      self = .afternoon
      return
    }
    let word = Self.letters(text)
    if Self.morningWords.contains(word) {
      self = .morning
    } else if Self.afternoonWords.contains(word) {
      self = .afternoon
    } else {
      return nil
    }
  }

  /// Returns the hour on a 24-hour clock, or `nil` if the hour is not on a 12-hour clock.
  func hour(_ hour: Int) -> Int? {
    guard (1...12).contains(hour) else { return nil }
    return hour % 12 + (self == .afternoon ? 12 : 0)
  }

  /// CLDR's abbreviated day periods, letters only. No word occurs in both sets.
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
