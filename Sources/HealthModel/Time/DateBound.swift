import Foundation

/// A beginning or an end that a person names: whole days, a time on the clock of some zone, or an instant.
///
/// ```swift
/// guard let from = DateBound("2024-06-15"), let zone = TimeZone(identifier: "Europe/Berlin") else { return }
/// let now = Timestamp(seconds: 1_718_447_400)
/// let day = from.start(in: zone, now: now)..<from.end(in: zone, now: now)  // 2024-06-14T22:00:00Z ..< 2024-06-15T22:00:00Z
/// if let week = DateBound("7d") { print(week.start(in: zone, now: now)) }  // when the day seven days ago began
/// ```
public enum DateBound: Hashable, Sendable {
  /// `2024-06-15`: begins with the day, or ends with it.
  case day(CivilTime)
  /// `2024-06`: begins with the first day of the month, or ends with its last.
  case month(CivilTime)
  /// `2024`: likewise.
  case year(CivilTime)
  /// `yesterday`, `7d`, `3 weeks ago`: the day that was so many days ago.
  case daysAgo(Int)
  /// `3 months ago`, `1y`: the day that had this day's number so many months ago, or the last of that month if there is none.
  case monthsAgo(Int)
  /// `2024-06-15T10:30`, with seconds and fractions if need be.
  case time(CivilTime)
  /// A time with its offset, which is the same wherever it is read.
  case instant(Timestamp)

  /// Reads a date, a month, a year, a time with or without seconds and with or without an offset (ISO 8601), or in English
  /// how long ago something was, in days, weeks, months or years; `nil` for anything else.
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

  /// Whether it names days and no time of day.
  public var isWholeDays: Bool {
    switch self {
    case .day, .month, .year, .daysAgo, .monthsAgo: true
    case .time, .instant: false
    }
  }

  /// The first instant of what begins so. Of a time that was twice, the first.
  ///
  /// - Parameter now: in whose day a way back begins.
  public func start(in zone: TimeZone, now: Timestamp) -> Timestamp {
    switch self {
    case .day(let time), .month(let time), .year(let time), .time(let time): zone.first(of: time)
    case .daysAgo, .monthsAgo: zone.first(of: day(in: zone, now))
    case .instant(let instant): instant
    }
  }

  /// The first instant after what ends so: a day is whole, a time is not included. Of a time that was twice, the second.
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

  /// The two instants that a time may mean on a day on which clocks are put back; empty where there is no doubt.
  public func doubt(in zone: TimeZone) -> [Timestamp] {
    guard case .time(let time) = self else { return [] }
    let instants = zone.instants(of: time)
    return instants.count > 1 ? instants : []
  }

  // MARK: Ago

  /// Further back than any record.
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
    // `m` may be minutes to many.
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
