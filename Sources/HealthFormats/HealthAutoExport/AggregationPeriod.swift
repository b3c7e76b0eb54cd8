import HealthModel

/// The span of time that one point of a Health Auto Export file covers. The file does not say; the points' dates do.
public enum AggregationPeriod: String, Sendable, CaseIterable {
  /// No aggregation: each point is a sample.
  case none
  /// The distance between points; a week is any seven days in a row.
  case minute, hour, day, week, month, year

  /// Creates a period from the app's own word, used in its settings and sent as `automation-aggregation`: `Days`,
  /// `hours`, `None`.
  ///
  /// Returns `nil` for any other word, including `Seconds`, which is not supported.
  init?(named text: String) {
    let word = text.lowercased().filter { $0.isLetter }
    guard let found = Self.allCases.first(where: { word == $0.rawValue || word == $0.rawValue + "s" }) else {
      return nil
    }
    self = found
  }

  /// Returns the end of a point that begins at `start`. A day has 24 hours; months and years follow the UTC calendar.
  func end(of start: Timestamp) -> Timestamp {
    let seconds: Int64
    switch self {
    case .none: return start
    case .minute: seconds = 60
    case .hour: seconds = 3600
    case .day: seconds = 86_400
    case .week: seconds = 7 * 86_400
    // Uses midday, because local midnight may belong to another month in UTC.
    case .month: seconds = Self.days(inMonthOf: Timestamp(seconds: start.seconds + 43_200)) * 86_400
    case .year: seconds = Self.days(inYearOf: Timestamp(seconds: start.seconds + 43_200)) * 86_400
    }
    return Timestamp(microseconds: start.microseconds &+ seconds * 1_000_000)
  }

  private static func days(inMonthOf instant: Timestamp) -> Int64 {
    let (year, month, _, _, _, _, _) = instant.civil
    let next = month == 12 ? (year + 1, 1) : (year, month + 1)
    return Int64(
      Timestamp.daysFromCivil(year: next.0, month: next.1, day: 1)
        - Timestamp.daysFromCivil(year: year, month: month, day: 1))
  }

  private static func days(inYearOf instant: Timestamp) -> Int64 {
    let year = instant.civil.year
    return Int64(
      Timestamp.daysFromCivil(year: year + 1, month: 1, day: 1) - Timestamp.daysFromCivil(year: year, month: 1, day: 1))
  }
}

/// Derives the aggregation period of a file, which all of its metrics share, from the dates of its points.
struct PeriodFinder {
  private var count = 0
  private var (hasSeconds, hasMinutes, hasHours) = (false, false, false)
  /// Whether every time of day is 00:00, 01:00 or 23:00, as midnight is printed around a clock change.
  private var isNearMidnight = true
  private var smallestGap = Int64.max
  private var previous: Int64?

  /// Starts a new metric, so that its first date is not compared with the last date of the previous metric.
  mutating func beginMetric() { previous = nil }

  mutating func add(_ date: AutoExportDate) {
    count += 1
    let time = date.timeOfDay
    if time % 60 != 0 || date.instant.microseconds % 1_000_000 != 0 { hasSeconds = true }
    if time % 3600 / 60 != 0 { hasMinutes = true }
    if time != 0 { hasHours = true }
    if ![0, 3600, 23 * 3600].contains(time) { isNearMidnight = false }
    let seconds = date.instant.seconds
    if let previous, seconds != previous {
      let (difference, overflow) = seconds.subtractingReportingOverflow(previous)
      if !overflow { smallestGap = min(smallestGap, abs(difference)) }
    }
    previous = seconds
  }

  var period: AggregationPeriod {
    let day: Int64 = 86_400
    if hasSeconds || count == 0 { return .none }
    if hasMinutes { return .minute }
    if hasHours, !isNearMidnight || smallestGap < 23 * 3600 { return .hour }
    switch smallestGap {
    case ..<(7 * day - 3600): return .day
    case ..<(27 * day): return .week
    case ..<(360 * day): return .month
    // A single point shows no gap. Days are by far the most common period.
    case .max: return .day
    default: return .year
    }
  }
}
