import Foundation
import HealthModel

/// What may stand in a header (RFC 9110, section 5).
enum HTTPHeaderText {
  /// A token.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
          || "!#$%&'*+-.^_`|~".utf8.contains($0)
      }
  }

  /// No control character but a tab: a line break would begin another header.
  static func isValue(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }

  /// `Authorization` of RFC 7617, in UTF-8.
  static func basic(_ user: String, _ password: String) -> (name: String, value: String) {
    ("Authorization", "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
  }

  /// `Authorization` of RFC 6750.
  static func bearer(_ token: String) -> (name: String, value: String) { ("Authorization", "Bearer \(token)") }
}

/// The header `Retry-After`: seconds, or an HTTP date in any of its three forms (RFC 9110, sections 10.2.3 and 5.6.7).
enum RetryAfter {
  /// The longest wait in seconds, a year: what asks for more is mistaken.
  private static let longest = 366 * 86_400
  /// In bytes: the longest date has 33.
  private static let longestText = 64

  /// `nil` of what is neither; at most a year, at least nothing.
  static func duration(_ text: String?, now: Date) -> Duration? {
    guard let text = text?.trimmingCharacters(in: .whitespaces), !text.isEmpty, text.utf8.count <= longestText else {
      return nil
    }
    if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      return .seconds(min(Int(text) ?? longest, longest))
    }
    guard let date = date(text, now: now) else { return nil }
    let seconds = Double(date.seconds) - now.timeIntervalSince1970
    return .seconds(Int(min(max(0, seconds.rounded(.up)), Double(longest))))
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

  /// `nil` of any other text than `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or
  /// `Sun Nov  6 08:49:37 1994`.
  static func date(_ text: String, now: Date) -> Timestamp? {
    guard text.utf8.count <= longestText else { return nil }
    var words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" }).map(String.init)
    guard let day = words.first, days.contains(where: { day.hasPrefix($0) }) else { return nil }
    words.removeFirst()
    // The form of C's asctime names the month first, and no zone: it means GMT.
    if words.count == 4, months.contains(words[0]) {
      words = [words[1], words[0], words[3], words[2], "GMT"]
    }
    guard words.count == 5, words[4] == "GMT", let month = months.firstIndex(of: words[1]),
      let day = number(words[0], digits: 1...2), let year = year(words[2], now: now), words[3].utf8.count == 8
    else { return nil }
    // A text that is no time of day is refused there.
    return Timestamp(iso8601: String(format: "%04d-%02d-%02dT%@Z", year, month + 1, day, words[3]))
  }

  /// The year of a date: two digits mean the one that is at most 50 years ahead (RFC 9110, section 5.6.7).
  private static func year(_ text: String, now: Date) -> Int? {
    guard let year = number(text, digits: 2...4) else { return nil }
    if text.utf8.count == 4 { return year }
    let current = Calendar(identifier: .gregorian).component(.year, from: now)
    let candidate = current - current % 100 + year
    return candidate > current + 50 ? candidate - 100 : candidate
  }

  private static func number(_ text: String, digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }
}
