import Foundation
import HealthModel

/// Reads dates in the spelling of a locale that replaces Apple's usual form: `2024-06-15 6:14:48 PM +0200`, with
/// narrow no-break spaces, the day period before or after the time, and any digits. The order is year, month, day.
enum LocalisedDate {
  /// Returns `nil` for any other text and for an unknown day period.
  static func read(_ text: String) -> DateReader.Reading? {
    let words = text.split { $0.isWhitespace || $0 == "," }
    guard words.count >= 2, let day = day(words[0]) else { return nil }
    var rest = words.dropFirst()
    var offset: Int?
    if rest.count > 1, let last = rest.last, let seconds = Self.offset(last) {
      offset = seconds
      rest = rest.dropLast()
    }
    guard let clock = WallClock(rest.joined(separator: " ")), let position = clock.position, !position.isHalf else {
      return nil
    }
    let (hours, inHour) = position.microseconds.quotientAndRemainder(dividingBy: 3_600_000_000)
    let (minutes, inMinute) = inHour.quotientAndRemainder(dividingBy: 60_000_000)
    let (seconds, microseconds) = inMinute.quotientAndRemainder(dividingBy: 1_000_000)
    guard
      let date = Timestamp(
        year: day.year, month: day.month, day: day.day, hour: Int(hours), minute: Int(minutes), second: Int(seconds),
        microsecond: Int(microseconds), offset: offset ?? 0)
    else { return nil }
    return DateReader.Reading(date: date, hasOffset: offset != nil, isTwelveHours: !clock.words.isEmpty)
  }

  /// Returns the year, month and day of `2024-06-15`.
  private static func day(_ text: Substring) -> (year: Int, month: Int, day: Int)? {
    let parts = text.split(omittingEmptySubsequences: false) { $0 == "-" }
    guard parts.count == 3, parts[0].count == 4, let year = number(parts[0]), let month = number(parts[1]),
      let day = number(parts[2]), parts[1].count <= 2, parts[2].count <= 2
    else { return nil }
    return (year, month, day)
  }

  /// Returns the offset `+0200`, `+02:00` or `Z` in seconds.
  private static func offset(_ text: Substring) -> Int? {
    if text == "Z" { return 0 }
    guard let sign = text.first, "+-\u{2212}".contains(sign) else { return nil }
    let digits = text.dropFirst().filter { $0 != ":" }
    guard digits.count == 4, let hours = number(digits.prefix(2)), let minutes = number(digits.suffix(2)), hours < 24,
      minutes < 60
    else { return nil }
    return (sign == "+" ? 1 : -1) * (hours * 3600 + minutes * 60)
  }

  private static func number(_ text: some StringProtocol) -> Int? {
    guard (1...9).contains(text.count) else { return nil }
    var value = 0
    for character in text {
      guard let digit = character.wholeNumberValue, (0...9).contains(digit) else { return nil }
      value = value * 10 + digit
    }
    return value
  }
}
