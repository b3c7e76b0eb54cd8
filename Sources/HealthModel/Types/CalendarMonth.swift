/// A month of the proleptic Gregorian calendar in UTC.
public struct CalendarMonth: Hashable, Sendable, Comparable {
  /// The months since January 1970, which is 0.
  public let number: Int

  /// Creates the month `number` months after January 1970, or before it if negative.
  public init(number: Int) {
    self.number = number
  }

  /// Creates the month in UTC that contains an instant.
  public init(containing instant: Timestamp) {
    let (year, month, _, _, _, _, _) = instant.civil
    number = (year - 1970) * 12 + month - 1
  }

  /// The astronomical year: the year before 1 is 0.
  public var year: Int { 1970 + (number >= 0 ? number / 12 : (number - 11) / 12) }
  /// The month of the year, 1 to 12.
  public var month: Int { number - (year - 1970) * 12 + 1 }

  /// The first and last instant of the month, limited to the range of ``Timestamp``.
  public var instants: ClosedRange<Timestamp> {
    let first = Self.start(of: self) ?? Timestamp(microseconds: number < 0 ? .min : .max)
    let next = Self.start(of: CalendarMonth(number: number + 1))
    let last = next.map { Timestamp(microseconds: $0.microseconds - 1) } ?? Timestamp(microseconds: .max)
    return first...max(first, last)
  }

  private static func start(of month: CalendarMonth) -> Timestamp? {
    Timestamp(year: month.year, month: month.month, day: 1)
  }

  public static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.number < rhs.number
  }
}

/// Formatted as `2024-06`; years before 0 and after 9999 have a sign and six digits, as in ``Timestamp/iso8601``.
extension CalendarMonth: LosslessStringConvertible {
  public var description: String {
    let year = year
    let digits = String(abs(year))
    let isLong = !(0...9999).contains(year)
    let padding = String(repeating: "0", count: max(0, (isLong ? 6 : 4) - digits.count))
    return (isLong ? (year < 0 ? "-" : "+") : "") + padding + digits + (month < 10 ? "-0" : "-") + String(month)
  }

  /// Creates a month from its exact ``description``. Returns `nil` for any other spelling and for months without
  /// representable instants.
  public init?(_ text: String) {
    guard text.utf8.count <= 10, let first = Timestamp(iso8601: text + "-01") ?? Self.earliest(text) else { return nil }
    self.init(containing: first)
    guard description.utf8.elementsEqual(text.utf8) else { return nil }
  }

  /// Returns the start of the earliest month, whose first day cannot be represented in microseconds.
  private static func earliest(_ text: String) -> Timestamp? {
    let first = Timestamp(microseconds: .min)
    return CalendarMonth(containing: first).description == text ? first : nil
  }
}
