import Foundation
import HealthModel

/// The syntax rules of HTTP header fields (RFC 9110, section 5).
enum HTTPHeaderText {
  /// Returns whether the text is a token, as a header name must be.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
          || "!#$%&'*+-.^_`|~".utf8.contains($0)
      }
  }

  /// Returns whether the text has no control character except tabs: a line break would start another header.
  static func isValue(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }

  /// Returns a header `Authorization` for Basic authentication (RFC 7617), in UTF-8.
  static func basic(_ user: String, _ password: String) -> (name: String, value: String) {
    ("Authorization", "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
  }

  /// Returns a header `Authorization` with a bearer token (RFC 6750).
  static func bearer(_ token: String) -> (name: String, value: String) { ("Authorization", "Bearer \(token)") }
}

/// The header `Retry-After`: seconds, or an HTTP date in any of its three forms (RFC 9110, sections 10.2.3 and 5.6.7).
enum RetryAfter {
  /// The longest wait in seconds, a year: a longer one is a mistake of the server.
  private static let longest = 366 * 86_400
  /// The maximum length of the text in bytes; the longest date has 33.
  private static let longestText = 64

  /// Returns the time to wait, between 0 and a year, or `nil` if the text is neither seconds nor a date.
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

  /// Returns the time of `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or
  /// `Sun Nov  6 08:49:37 1994`, and `nil` for any other text.
  static func date(_ text: String, now: Date) -> Timestamp? {
    guard text.utf8.count <= longestText else { return nil }
    var words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" }).map(String.init)
    guard let day = words.first, days.contains(where: { day.hasPrefix($0) }) else { return nil }
    words.removeFirst()
    // The format of C's asctime names the month first and has no zone: it means GMT.
    if words.count == 4, months.contains(words[0]) {
      words = [words[1], words[0], words[3], words[2], "GMT"]
    }
    guard words.count == 5, words[4] == "GMT", let month = months.firstIndex(of: words[1]),
      let day = number(words[0], digits: 1...2), let year = year(words[2], now: now), words[3].utf8.count == 8
    else { return nil }
    // The initializer refuses a text that is no time of day.
    return Timestamp(iso8601: String(format: "%04d-%02d-%02dT%@Z", year, month + 1, day, words[3]))
  }

  /// Returns the year of a date. A year of two digits is at most 50 years ahead (RFC 9110, section 5.6.7).
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
