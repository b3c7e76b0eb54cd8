import HealthModel

/// A date of the calendar, whatever the zone.
struct CalendarDay: Hashable, Comparable {
  /// The number of days since 1970-01-01.
  let number: Int

  init(_ number: Int) { self.number = number }

  private var civil: (year: Int, month: Int, day: Int) {
    let civil = Timestamp(seconds: Int64(number) * 86_400).civil
    return (civil.year, civil.month, civil.day)
  }

  /// The date as text: `2024-06-15`.
  var text: String { String(Timestamp(seconds: Int64(number) * 86_400).iso8601.prefix { $0 != "T" }) }

  /// The day of the month, from 1.
  var dayOfMonth: Int { civil.day }

  var month: CalendarMonthNumber { CalendarMonthNumber(number: civil.year * 12 + civil.month - 1) }

  static func < (one: Self, other: Self) -> Bool { one.number < other.number }
}

/// A month of the calendar.
struct CalendarMonthNumber: Hashable, Comparable {
  /// The number of months since January of the year 0.
  let number: Int

  private var civil: (year: Int, month: Int) { (number / 12, number % 12 + 1) }

  /// The first day of the month, in days since 1970-01-01.
  var firstDay: Int { Timestamp.daysFromCivil(year: civil.year, month: civil.month, day: 1) }

  /// The number of days in the month.
  var length: Int { CalendarMonthNumber(number: number + 1).firstDay - firstDay }

  /// The month as text: `2024-06`.
  var text: String { String(CalendarDay(firstDay).text.dropLast(3)) }

  static func < (one: Self, other: Self) -> Bool { one.number < other.number }
}
