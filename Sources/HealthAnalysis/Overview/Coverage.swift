import HealthModel
import HealthStore

/// The days that have samples of a type, which reveals gaps in the record.
///
/// ```swift
/// let coverage = Coverage(of: SampleType.workout, days: [19_880: 2, 19_881: 1, 19_889: 1])
/// for gap in coverage.gaps { print(gap.count, "days") }  // 7 days
/// ```
public struct Coverage: Hashable, Sendable {
  public var type: SampleType
  /// The number of samples that start on each day, by days since 1970-01-01. Days without samples are absent.
  public var days: [Int: Int]
  /// The number of samples with an implausible time, if the query has no time limits; see ``PlausibleTime``.
  public var implausibleTime = 0

  /// Creates a coverage.
  ///
  /// - Parameter days: the counts, each greater than 0.
  public init(of type: SampleType, days: [Int: Int]) {
    (self.type, self.days) = (type, days)
  }

  /// The first to the last day with a sample, or `nil` if there is none.
  public var extent: ClosedRange<Int>? {
    guard let first = days.keys.min(), let last = days.keys.max() else { return nil }
    return first...last
  }

  /// The ranges of days without samples between days with samples, in order.
  public var gaps: [Range<Int>] {
    let days = days.keys.sorted()
    return zip(days, days.dropFirst()).compactMap { $0 + 1 < $1 ? $0 + 1..<$1 : nil }
  }

  /// Reads the coverage of a type from a store.
  ///
  /// - Parameters:
  ///   - range: the range of starts.
  ///   - limits: samples outside are only counted, as ``implausibleTime``; `nil` for no limits.
  ///   - sources: the names of sources, or `nil` for all.
  /// - Throws: ``StoreError``.
  public static func coverage(
    of type: SampleType, in range: Range<Timestamp>, within limits: Range<Timestamp>? = nil,
    from sources: Set<String>? = nil, zone: ZoneRules, store: HealthStore
  ) async throws(StoreError) -> Coverage {
    try await store.samples.numbers { reader in
      var days: [Int: Int] = [:]
      // Most samples are of the same day as the previous one.
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
