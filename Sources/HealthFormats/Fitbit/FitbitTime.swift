import HealthModel

/// Parses the timestamps in Fitbit's files.
enum FitbitTime {
  /// Returns the instant of `11/02/25 05:30:00` read as UTC. The year has two digits of this century, or four digits.
  static func stamp(_ text: String) -> Timestamp? {
    let parts = text.split(separator: " ")
    guard parts.count == 2, let day = day(parts[0]) else { return nil }
    let time = parts[1].utf8.split(separator: UInt8(ascii: ":")).map { digits($0, 2...2) }
    guard time.count == 3, let hour = time[0], let minute = time[1], let second = time[2], hour < 24, minute < 60,
      second < 60
    else { return nil }
    return Timestamp(seconds: Int64(day) * 86_400 + Int64(hour * 3600 + minute * 60 + second))
  }

  /// Returns the days since 1970-01-01 of `11/02/25`.
  static func day(_ text: some StringProtocol) -> Int? {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"))
    guard parts.count == 3, let month = digits(parts[0], 1...2), let day = digits(parts[1], 1...2),
      var year = digits(parts[2], 2...4)
    else { return nil }
    if parts[2].count == 2 { year += 2000 }
    guard years.contains(year),
      let midnight = Timestamp(year: year, month: month, day: day)
    else { return nil }
    return Int(midnight.seconds / 86_400)
  }

  /// Returns the instant of `2025-11-02T05:30:00Z` read as UTC. Seconds, fraction and `Z` are optional.
  static func clock(_ text: String) -> Timestamp? {
    guard text.utf8.count <= 40, let instant = Timestamp(iso8601: text.hasSuffix("Z") ? text : text + "Z"),
      years.contains(instant.civil.year)
    else { return nil }
    return instant
  }

  /// Returns the days since 1970-01-01 of the date at the beginning of a text.
  static func date(_ text: String) -> Int? {
    clock(String(text.prefix(10)) + "T00:00:00Z").map { Int($0.seconds / 86_400) }
  }

  /// The plausible years: no Fitbit existed earlier, and later dates are errors.
  private static let years = 2005...2200

  private static func digits(_ bytes: some Collection<UInt8>, _ count: ClosedRange<Int>) -> Int? {
    guard count.contains(bytes.count), bytes.allSatisfy({ $0 &- 48 < 10 }) else { return nil }
    return bytes.reduce(0) { $0 * 10 + Int($1 &- 48) }
  }
}
