import HealthModel

/// The line format of iCalendar (RFC 5545).
enum CalendarText {
  static func begin(to bytes: inout [UInt8]) {
    for line in ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//hpeer//hpeer//EN", "CALSCALE:GREGORIAN"] {
      append(line, to: &bytes)
    }
  }

  static func end(to bytes: inout [UInt8]) { append("END:VCALENDAR", to: &bytes) }

  /// Returns an instant as `20240615T103000Z` (section 3.3.5), or `nil` outside the years 1 to 9999.
  static func instant(_ instant: Timestamp) -> String? {
    guard years.contains(instant.seconds) else { return nil }
    return Timestamp(seconds: instant.seconds).iso8601.filter { $0 != "-" && $0 != ":" }
  }

  /// Returns a date as `20240615` (section 3.3.4), or `nil` outside the years 1 to 9999.
  ///
  /// - Parameter day: the number of days since 1970-01-01.
  static func date(_ day: Int) -> String? {
    let (seconds, isTooFar) = Int64(day).multipliedReportingOverflow(by: 86_400)
    guard !isTooFar, years.contains(seconds) else { return nil }
    return String(Timestamp(seconds: seconds).iso8601.prefix(10).filter { $0 != "-" })
  }

  private static let years: Range<Int64> = -62_135_596_800..<253_402_300_800

  /// Returns a text with escapes (section 3.3.11) and without control characters, which are not allowed.
  static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\\", ";", ",":
        result.unicodeScalars.append("\\")
        result.unicodeScalars.append(scalar)
      case "\n": result += "\\n"
      case "\u{0}"..<" ", "\u{7F}": break
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  /// Appends a line, folded after 75 bytes but never within a character (section 3.1).
  static func append(_ line: String, to bytes: inout [UInt8]) {
    var length = 0
    for scalar in line.unicodeScalars {
      let width = UTF8.width(scalar)
      if length + width > 75 {
        bytes.append(contentsOf: [0x0D, 0x0A, 0x20])
        length = 1
      }
      bytes.append(contentsOf: String(scalar).utf8)
      length += width
    }
    bytes.append(contentsOf: [0x0D, 0x0A])
  }
}
