import Foundation

/// The header `Retry-After`: seconds, or an HTTP date (RFC 9110, sections 10.2.3 and 5.6.7).
enum RetryAfter {
  /// `nil` of what is neither; at most a year.
  static func duration(_ text: String?, now: Date) -> Duration? {
    guard let text = text?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
    let longest = 366 * 86_400
    if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      return .seconds(min(Int(text) ?? longest, longest))
    }
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
    guard let date = format.date(from: text) else { return nil }
    return .seconds(min(max(0, Int(date.timeIntervalSince(now).rounded(.up))), longest))
  }
}
