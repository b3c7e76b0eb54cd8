/// An instant: microseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// ```swift
/// guard let start = Timestamp(iso8601: "2024-06-15T12:30:00+02:00") else { return }
/// print(start)                                               // 2024-06-15T10:30:00Z
/// print(start.civil.hour, start.seconds)                     // 10 1718447400
/// let later = Timestamp(microseconds: start.microseconds + 1_500_000)
/// if let zone = TimeZone(identifier: "Europe/Berlin") {
///   print(later.iso8601(in: zone))                           // 2024-06-15T12:30:01.500000+02:00
/// }
/// ```
///
/// Apple's export prints whole seconds, so compare its values with ``seconds``. For days in a time zone use
/// ``DateBound``.
public struct Timestamp: Hashable, Sendable, Comparable {
  /// The microseconds since 1970-01-01T00:00:00Z. Every `Int64` is valid, about 292,000 years in either direction.
  public var microseconds: Int64

  /// Creates an instant. Anything finer than a microsecond must be truncated first.
  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Creates an instant from whole seconds.
  ///
  /// - Parameter seconds: seconds since 1970; values outside the range of microseconds are clamped.
  public init(seconds: Int64) {
    let (value, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    microseconds = overflow ? (seconds < 0 ? .min : .max) : value
  }

  /// The whole seconds since 1970, rounded down, as Apple's export prints them.
  public var seconds: Int64 {
    let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  /// The first whole second at or after this instant, or the last representable instant if there is none.
  package var roundedUpToSecond: Timestamp {
    let rounded = Timestamp(seconds: seconds)
    return rounded == self ? self : Timestamp(seconds: seconds + 1)
  }

  public static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.microseconds < rhs.microseconds
  }
}

// MARK: - Calendar arithmetic (proleptic Gregorian)

extension Timestamp {
  /// Creates the instant of a calendar date and time at a UTC offset. Returns `nil` if a field is out of its range or
  /// the instant cannot be represented in microseconds.
  ///
  /// - Parameter offset: seconds east of UTC.
  public init?(
    year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, microsecond: Int = 0,
    offset: Int = 0
  ) {
    guard (-300_000...300_000).contains(year), (1...12).contains(month), day >= 1,
      day <= Self.daysInMonth(month, year: year), (0...23).contains(hour), (0...59).contains(minute),
      (0...60).contains(second), (0...999_999).contains(microsecond), abs(offset) < 86_400
    else { return nil }
    let days = Self.daysFromCivil(year: year, month: month, day: day)
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    // Before 1970, count back from the next second, so that the earliest instants do not overflow in between.
    let (base, rest) = seconds < 0 ? (seconds + 1, microsecond - 1_000_000) : (seconds, microsecond)
    let (product, overflow) = Int64(base).multipliedReportingOverflow(by: 1_000_000)
    let (sum, overflowOfSum) = product.addingReportingOverflow(Int64(rest))
    guard !overflow, !overflowOfSum else { return nil }
    microseconds = sum
  }

  /// The UTC calendar fields of this instant.
  public var civil: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, microsecond: Int) {
    let total = Int(seconds)
    let days = total >= 0 ? total / 86_400 : (total - 86_399) / 86_400
    let rest = total - days * 86_400
    let (year, month, day) = Self.civilFromDays(days)
    let fraction = microseconds - (microseconds / 1_000_000) * 1_000_000
    return (
      year, month, day, rest / 3600, rest % 3600 / 60, rest % 60, Int(fraction < 0 ? fraction + 1_000_000 : fraction)
    )
  }

  static func daysInMonth(_ month: Int, year: Int) -> Int {
    switch month {
    case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Returns the days since 1970-01-01; the era arithmetic of Howard Hinnant's "chrono-Compatible Low-Level Date
  /// Algorithms".
  public static func daysFromCivil(year: Int, month: Int, day: Int) -> Int {
    let y = month <= 2 ? year - 1 : year
    let era = (y >= 0 ? y : y - 399) / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  static func civilFromDays(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let z = days + 719_468
    let era = (z >= 0 ? z : z - 146_096) / 146_097
    let dayOfEra = z - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let mp = (5 * dayOfYear + 2) / 153
    let month = mp < 10 ? mp + 3 : mp - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * mp + 2) / 5 + 1)
  }
}
