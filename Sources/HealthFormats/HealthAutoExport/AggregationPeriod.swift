import HealthModel

/// How much time one point of a Health Auto Export file stands for. The file does not say; the dates of its points do.
public enum AggregationPeriod: String, Sendable, CaseIterable {
  /// Not aggregated: each point is a sample.
  case none
  /// The points are as far apart as the name says; a week is seven days from its first.
  case minute, hour, day, week, month, year

  /// By what the app calls it in its settings and sends as `automation-aggregation`: `Days`, `hours`, `None`.
  ///
  /// `nil` for a word that is none of these, and for seconds, of which nothing here knows.
  init?(named text: String) {
    let word = text.lowercased().filter { $0.isLetter }
    guard let found = Self.allCases.first(where: { word == $0.rawValue || word == $0.rawValue + "s" }) else {
      return nil
    }
    self = found
  }

  /// When a point ends that begins at `start`. A day has 24 hours, a month and a year those of its calendar in UTC.
  func end(of start: Timestamp) -> Timestamp {
    let seconds: Int64
    switch self {
    case .none: return start
    case .minute: seconds = 60
    case .hour: seconds = 3600
    case .day: seconds = 86_400
    case .week: seconds = 7 * 86_400
    // Midday, because local midnight may belong to another month in UTC.
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

/// Finds the period of a file, which is one for all of its metrics, from the dates of their points.
struct PeriodFinder {
  private var count = 0
  private var (hasSeconds, hasMinutes, hasHours) = (false, false, false)
  /// Whether all times of day are such as midnight is printed as on the other side of a change of the clocks.
  private var isNearMidnight = true
  private var smallestGap = Int64.max
  private var previous: Int64?

  /// The points that follow are another metric's.
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
    // One point says nothing, and days are by far the most common.
    case .max: return .day
    default: return .year
    }
  }
}
