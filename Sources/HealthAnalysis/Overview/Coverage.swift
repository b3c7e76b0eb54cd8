import HealthModel
import HealthStore

/// On which days there are samples of a type, so that gaps are seen.
///
/// ```swift
/// let coverage = Coverage(of: SampleType.workout, days: [19_880: 2, 19_881: 1, 19_889: 1])
/// for gap in coverage.gaps { print(gap.count, "days") }  // 7 days
/// ```
public struct Coverage: Hashable, Sendable {
  public var type: SampleType
  /// How many samples start on a day, by days since 1970-01-01; of days that have any.
  public var days: [Int: Int]
  /// Samples whose time cannot be right, in a question that names none; see ``PlausibleTime``.
  public var implausibleTime = 0

  /// - Parameter days: more than 0 of each.
  public init(of type: SampleType, days: [Int: Int]) {
    (self.type, self.days) = (type, days)
  }

  /// From the first day with a sample to the last; `nil` where there is none.
  public var extent: ClosedRange<Int>? {
    guard let first = days.keys.min(), let last = days.keys.max() else { return nil }
    return first...last
  }

  /// Stretches of days without a sample between days with one, in order.
  public var gaps: [Range<Int>] {
    let days = days.keys.sorted()
    return zip(days, days.dropFirst()).compactMap { $0 + 1 < $1 ? $0 + 1..<$1 : nil }
  }

  /// Reads when samples start. Throws ``StoreError``.
  ///
  /// - Parameters:
  ///   - range: of their starts.
  ///   - limits: what lies outside of them is only counted, as ``implausibleTime``; `nil` for none.
  ///   - sources: the names of sources; `nil` for all.
  public static func coverage(
    of type: SampleType, in range: Range<Timestamp>, within limits: Range<Timestamp>? = nil,
    from sources: Set<String>? = nil, zone: ZoneRules, store: HealthStore
  ) async throws(StoreError) -> Coverage {
    try await store.samples.numbers { reader in
      var days: [Int: Int] = [:]
      // Most samples are of the day of the one before.
      var (day, time) = (0, 0..<Int64(0))
      var range = range.clamped(to: CalendarBuckets.years.lowerBound..<CalendarBuckets.years.upperBound)
      if let limits { range = range.clamped(to: limits) }
      try reader.forEachStart(
        type, in: range.lowerBound.microseconds..<range.upperBound.microseconds, from: sources
      ) { start in
        let seconds = Timestamp(microseconds: start).seconds
        if !time.contains(seconds) {
          day = zone.dayNumber(at: seconds)
          time = zone.day(day)
        }
        days[day, default: 0] += 1
      }
      var coverage = Coverage(of: type, days: days)
      coverage.implausibleTime = try limits.map { try reader.count(of: type, outside: $0, from: sources) } ?? 0
      return coverage
    }
  }
}
