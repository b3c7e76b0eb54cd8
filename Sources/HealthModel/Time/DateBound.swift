import Foundation

/// The start or end of a period as entered by a person: whole days, a local time, or an instant.
public enum DateBound: Hashable, Sendable {
  /// A day, `2024-06-15`. It starts or ends with the day.
  case day(CivilTime)
  /// A month, `2024-06`. It starts with its first day or ends with its last.
  case month(CivilTime)
  /// A year, `2024`. It starts with its first day or ends with its last.
  case year(CivilTime)
  /// A number of days ago: `yesterday`, `7d`, `3 weeks ago`.
  case daysAgo(Int)
  /// A number of months ago: `3 months ago`, `1y`. The day has today's day number, or is the last of that month if it
  /// has no such day.
  case monthsAgo(Int)
  /// A local time, `2024-06-15T10:30`, optionally with seconds and fractions.
  case time(CivilTime)
  /// An instant: a time with a UTC offset, independent of the zone in which it is read.
  case instant(Timestamp)

  /// Reads an ISO 8601 date, month, year or time, with or without seconds and offset, or an English relative date in
  /// days, weeks, months or years. Returns `nil` for anything else.
  public init?(_ text: String) {
    if let time = CivilTime(text) {
      self = text.contains { $0 == "T" || $0 == " " } ? .time(time) : .day(time)
    } else if let instant = Timestamp(iso8601: text) {
      self = .instant(instant)
    } else if text.count == 7, let first = CivilTime(text + "-01") {
      self = .month(first)
    } else if text.count == 4, let first = CivilTime(text + "-01-01") {
      self = .year(first)
    } else if let ago = Self.ago(text.lowercased()) {
      self = ago
    } else {
      return nil
    }
  }

  /// Whether this bound denotes whole days and has no time of day.
  public var isWholeDays: Bool {
    switch self {
    case .day, .month, .year, .daysAgo, .monthsAgo: true
    case .time, .instant: false
    }
  }

  /// Returns the first instant of a period that starts with this bound. If a time occurred twice, the first is used.
  ///
  /// - Parameter now: the current time, from which relative dates are counted.
  public func start(in zone: TimeZone, now: Timestamp) -> Timestamp {
    switch self {
    case .day(let time), .month(let time), .year(let time), .time(let time): zone.first(of: time)
    case .daysAgo, .monthsAgo: zone.first(of: day(in: zone, now))
    case .instant(let instant): instant
    }
  }

  /// Returns the first instant after a period that ends with this bound. A day is included as a whole, a time is
  /// excluded. If a time occurred twice, the second is used.
  public func end(in zone: TimeZone, now: Timestamp) -> Timestamp {
    switch self {
    case .day(let time): zone.first(of: time.advanced(byDays: 1))
    case .month(let time): zone.first(of: time.advanced(byMonths: 1))
    case .year(let time): zone.first(of: time.advanced(byMonths: 12))
    case .daysAgo, .monthsAgo: zone.first(of: day(in: zone, now).advanced(byDays: 1))
    case .time(let time): zone.last(of: time)
    case .instant(let instant): instant
    }
  }

  /// Returns the two instants of a local time that occurred twice because clocks were set back, or an empty array if
  /// the bound is unambiguous.
  public func doubt(in zone: TimeZone) -> [Timestamp] {
    guard case .time(let time) = self else { return [] }
    let instants = zone.instants(of: time)
    return instants.count > 1 ? instants : []
  }

  // MARK: Ago

  /// The largest accepted number, further back than any record.
  private static let furthest = 1_000

  private static func ago(_ text: String) -> DateBound? {
    if text == "today" { return .daysAgo(0) }
    if text == "yesterday" { return .daysAgo(1) }
    if text == "tomorrow" { return .daysAgo(-1) }
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let count = Int(digits), (0...furthest).contains(count) else { return nil }
    var unit = text.dropFirst(digits.count).drop { $0 == " " }
    if unit.hasSuffix(" ago") { unit = unit.dropLast(4) }
    return switch unit {
    case "d", "day", "days": .daysAgo(count)
    case "w", "week", "weeks": .daysAgo(7 * count)
    case "month", "months": .monthsAgo(count)
    case "y", "year", "years": .monthsAgo(12 * count)
    // `m` could also mean minutes.
    default: nil
    }
  }

  private func day(in zone: TimeZone, _ now: Timestamp) -> CivilTime {
    let today = CivilTime(now.date(in: zone)) ?? CivilTime(inUTC: now)
    return switch self {
    case .daysAgo(let days): today.advanced(byDays: -days)
    case .monthsAgo(let months): today.advanced(byMonths: -months)
    case .day(let time), .month(let time), .year(let time), .time(let time): time
    case .instant: today
    }
  }
}
