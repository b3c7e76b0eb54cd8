import Foundation
import HealthModel

/// A period in English words or as a date: `last week`, `this month`, `november 2026`, `27 nov`, `monday`,
/// `27.11.2026`, and every ``DateBound``.
///
/// ```swift
/// guard let week = SpokenPeriod("last week"), let zone = TimeZone(identifier: "Europe/Berlin") else { return }
/// let bounds = week.bounds(in: zone, now: Timestamp(seconds: 1_780_000_000), weekStartsOnSunday: false)
/// print(bounds.start, bounds.end)  // the days of Monday and of Sunday
/// ```
///
/// Weeks, months and years are those of the calendar. A weekday is its most recent occurrence including today, or
/// with `last` excluding today. A month without a year is the most recent one that has begun.
public struct SpokenPeriod: Hashable, Sendable {
  /// The first field of a date with slashes, such as `11/12/2026`, which differs by country.
  public enum SlashOrder: Sendable {
    case day, month
  }

  private enum Meaning: Hashable {
    case bound(DateBound)
    /// The number of periods before the current one.
    case week(Int), month(Int), year(Int)
    /// The number of days up to and including today.
    case days(Int)
    /// A weekday from Monday, 0. `isBefore` excludes today.
    case weekday(Int, isBefore: Bool)
    /// A month from January, 1.
    case named(month: Int)
    /// The most recent occurrence of a date up to today.
    case date(month: Int, day: Int)
    /// The most recent Saturday and the day after it.
    case weekend(isBefore: Bool)
  }

  private let meaning: Meaning

  /// Reads a period, or returns `nil` for other text.
  ///
  /// - Parameter slashes: the first field of a date with slashes. With `nil`, only unambiguous dates are read, such
  ///   as `11/27/2026`.
  public init?(_ text: String, slashes: SlashOrder? = nil) {
    let words = text.lowercased().split(whereSeparator: { $0 == " " || $0 == "-" && !text.contains(where: \.isNumber) })
      .map(String.init)
    guard text.utf8.count <= 64, let meaning = Self.meaning(text, words, slashes) else { return nil }
    self.meaning = meaning
  }

  /// Creates a period from a single bound.
  public init(_ bound: DateBound) { meaning = .bound(bound) }

  /// Whether this names whole days rather than a time of day.
  public var isWholeDays: Bool { if case .bound(let bound) = meaning { bound.isWholeDays } else { true } }

  /// Returns the first and the last day, which are equal for a single date.
  ///
  /// - Parameter now: the current time, to which `this` and `last` refer.
  public func bounds(
    in zone: TimeZone, now: Timestamp, weekStartsOnSunday: Bool
  ) -> (start: DateBound, end: DateBound) {
    if case .bound(let bound) = meaning { return (bound, bound) }
    let local = Timestamp(iso8601: now.date(in: zone) + "T00:00:00Z") ?? now
    let days = days(today: Int(local.seconds / 86_400), weekStartsOnSunday: weekStartsOnSunday)
    return (
      .day(CivilTime(day: days.lowerBound, second: 0)), .day(CivilTime(day: days.upperBound, second: 0))
    )
  }

  /// Returns the days, in days since 1970-01-01.
  private func days(today: Int, weekStartsOnSunday: Bool) -> ClosedRange<Int> {
    let (year, month) = Self.date(of: today)
    switch meaning {
    case .bound: return today...today
    case .days(let count): return (today - count + 1)...today
    case .week(let ago):
      // 1970-01-01 was a Thursday.
      let start = today - Self.remainder(today + (weekStartsOnSunday ? 4 : 3), 7) - 7 * ago
      return start...(start + 6)
    case .weekday(let day, let isBefore):
      let ago = Self.remainder(today + 3 - day, 7)
      let date = today - (ago == 0 && isBefore ? 7 : ago)
      return date...date
    case .month(let ago): return Self.month(year * 12 + month - 1 - ago)
    case .date(let month, let day):
      let date = Timestamp.daysFromCivil(year: year, month: month, day: day)
      // For 29 February, use the most recent leap year.
      for back in 0...8 {
        let candidate = Timestamp.daysFromCivil(year: year - back, month: month, day: day)
        if candidate <= today, Timestamp(seconds: Int64(candidate) * 86_400).civil.day == day {
          return candidate...candidate
        }
      }
      return date...date
    case .weekend(let isBefore):
      let ago = Self.remainder(today - 2, 7)
      let saturday = today - ago - (isBefore && ago < 2 ? 7 : 0)
      return saturday...(saturday + 1)
    case .named(let named): return Self.month((named > month ? year - 1 : year) * 12 + named - 1)
    case .year(let ago):
      let first = Timestamp.daysFromCivil(year: year - ago, month: 1, day: 1)
      return first...(Timestamp.daysFromCivil(year: year - ago + 1, month: 1, day: 1) - 1)
    }
  }

  private static func date(of day: Int) -> (year: Int, month: Int) {
    let civil = Timestamp(seconds: Int64(day) * 86_400).civil
    return (civil.year, civil.month)
  }

  private static func remainder(_ value: Int, _ divisor: Int) -> Int { (value % divisor + divisor) % divisor }

  /// Returns the days of a month.
  ///
  /// - Parameter number: months since the year 0.
  private static func month(_ number: Int) -> ClosedRange<Int> {
    let next = number + 1
    let first = Timestamp.daysFromCivil(year: number / 12, month: number % 12 + 1, day: 1)
    return first...(Timestamp.daysFromCivil(year: next / 12, month: next % 12 + 1, day: 1) - 1)
  }

  // MARK: Words

  private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
  private static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
  ]

  /// Returns the index of a name in a list. The first three letters suffice.
  private static func index(of word: String, in names: [String]) -> Int? {
    names.firstIndex { $0 == word || $0.utf8.count > 3 && $0.utf8.prefix(3).elementsEqual(word.utf8) }
  }

  private static func meaning(_ text: String, _ words: [String], _ slashes: SlashOrder?) -> Meaning? {
    if let bound = DateBound(text) { return .bound(bound) }
    guard let first = words.first else { return nil }
    if words.count == 1 {
      if let day = index(of: first, in: weekdays) { return .weekday(day, isBefore: false) }
      if first == "weekend" { return .weekend(isBefore: false) }
      // Alone, `may` is also another word.
      if first.utf8.count > 3, let month = index(of: first, in: months) { return .named(month: month + 1) }
      return date(text, slashes).map { .bound($0) }
    }
    if first == "this" || first == "last" { return relative(words, ago: first == "this" ? 0 : 1) }
    if words.count == 2, let month = index(of: first, in: months), words[1].utf8.count == 4, let year = Int(words[1]) {
      return DateBound("\(year)-\(month < 9 ? "0" : "")\(month + 1)").map { .bound($0) }
    }
    return dayOfMonth(words)
  }

  /// Reads `27 nov`, `27. november 2026` or `nov 27, 2026`. `nov 20` could be a year and is not read.
  private static func dayOfMonth(_ words: [String]) -> Meaning? {
    guard (2...3).contains(words.count) else { return nil }
    let plain = words.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: ".,")) }
    let isDayFirst = Int(plain[0]) != nil
    guard let month = index(of: plain[isDayFirst ? 1 : 0], in: months),
      let day = Int(plain[isDayFirst ? 0 : 1]), (1...31).contains(day)
    else { return nil }
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    if words.count == 3 {
      guard plain[2].utf8.count == 4 else { return nil }
      return DateBound("\(plain[2])-\(two(month + 1))-\(two(day))").map { .bound($0) }
    }
    // Use a leap year so that 29 February is accepted.
    guard isDayFirst, DateBound("2024-\(two(month + 1))-\(two(day))") != nil else { return nil }
    return .date(month: month + 1, day: day)
  }

  private static func relative(_ words: [String], ago: Int) -> Meaning? {
    if words.count == 3, ago == 1, let count = Int(words[1]), (1...1_000).contains(count) {
      switch words[2] {
      case "day", "days": return .days(count)
      case "week", "weeks": return .days(7 * count)
      default: return nil
      }
    }
    guard words.count == 2 else { return nil }
    switch words[1] {
    case "week": return .week(ago)
    case "month": return .month(ago)
    case "year": return .year(ago)
    // The night ended today.
    case "night" where ago == 1: return .days(1)
    case "weekend": return .weekend(isBefore: ago == 1)
    default: return index(of: words[1], in: weekdays).map { .weekday($0, isBefore: ago == 1) }
    }
  }

  /// Reads `27.11.2026` or `11/27/2026`.
  private static func date(_ text: String, _ slashes: SlashOrder?) -> DateBound? {
    for (separator, order) in [(Character("."), SlashOrder?.some(.day)), ("/", slashes)] {
      let parts = text.split(separator: separator, omittingEmptySubsequences: false)
      guard parts.count == 3, parts[2].utf8.count == 4, parts.allSatisfy({ $0.utf8.allSatisfy { $0 &- 48 < 10 } }),
        parts[0].utf8.count <= 2, parts[1].utf8.count <= 2, let one = Int(parts[0]), let two = Int(parts[1])
      else { continue }
      let isDayFirst = order.map { $0 == .day } ?? (one > 12)
      if order == nil, one <= 12, two <= 12, one != two { return nil }
      let (day, month) = isDayFirst ? (one, two) : (two, one)
      return DateBound("\(parts[2])-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)")
    }
    return nil
  }
}
