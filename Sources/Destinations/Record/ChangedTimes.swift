import HealthAnalysis
import HealthModel

/// Of which times of which types a batch says something new: the whole lengths of its samples, added and deleted.
///
/// ```swift
/// func days(of batch: DeliveryBatch, in zone: ZoneRules) -> [ClosedRange<Int>] {
///   ChangedTimes(batch).days(of: SampleType("HKQuantityTypeIdentifierStepCount"), in: zone)
/// }
/// ```
///
/// What numbers are there now says ``RecordReader``. Of a batch that starts over this is only what is in the batch: the rest of
/// the record has changed, too.
public struct ChangedTimes: Sendable {
  /// A tombstone that does not say where its sample ended may be of one as long as the longest day.
  private static let longest: Int64 = 25 * 3_600_000_000
  /// A copy of a sample may have taken the place of one that starts within a second before or after it.
  private static let drift: Int64 = 1_000_000
  /// A value of heart rate holds for so long after its end: see docs/reference/statistics.md.
  private static let lasting: Int64 = 300_000_000

  /// In order of time, none overlapping another; none is empty.
  private var ranges: [SampleType: [Range<Timestamp>]] = [:]

  /// Looks at each change of the batch once; no sample is decoded.
  ///
  /// - Parameter hasAnswers: whether a reading of an app also changes the numbers of HealthKit's type that it is of.
  public init(_ batch: DeliveryBatch, hasAnswers: Bool = true) {
    let changes = batch.changes
    for sample in changes.samples {
      add(changes.types[Int(sample.type)], sample.start, sample.end)
    }
    for tombstone in changes.tombstones {
      let end = tombstone.end ?? tombstone.start.advanced(by: Self.longest)
      add(changes.types[Int(tombstone.type)], tombstone.start, end)
    }
    for (type, found) in ranges where hasAnswers {
      for answered in AppReadings.answered(by: [type]) { ranges[answered, default: []] += found }
    }
    for (type, found) in ranges { ranges[type] = Self.union(found) }
  }

  /// Those of which something has changed.
  public var types: Set<SampleType> { Set(ranges.keys) }

  /// In order of time, none overlapping another; empty of a type of which nothing has changed.
  public func ranges(of type: SampleType) -> [Range<Timestamp>] { ranges[type] ?? [] }

  /// The days that they touch, in days since 1970-01-01, in order: those that follow one another as one range.
  public func days(of type: SampleType, in zone: ZoneRules) -> [ClosedRange<Int>] {
    ranges(of: type).reduce(into: []) { days, range in
      let last = Timestamp(microseconds: range.upperBound.microseconds - 1)
      let found = zone.dayNumber(at: range.lowerBound.seconds)...zone.dayNumber(at: last.seconds)
      if let before = days.last, found.lowerBound <= before.upperBound + 1 {
        days[days.count - 1] = before.lowerBound...max(before.upperBound, found.upperBound)
      } else {
        days.append(found)
      }
    }
  }

  private mutating func add(_ type: SampleType, _ start: Timestamp, _ end: Timestamp) {
    let first = min(start, end).advanced(by: -Self.drift)
    let last = max(start, end).advanced(by: Self.drift + Self.lasting)
    ranges[type, default: []].append(first..<max(last, first.advanced(by: 1)))
  }

  private static func union(_ ranges: [Range<Timestamp>]) -> [Range<Timestamp>] {
    ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { union, range in
      if let last = union.last, range.lowerBound <= last.upperBound {
        union[union.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        union.append(range)
      }
    }
  }
}

extension Timestamp {
  /// The first or last instant where there is none so far away.
  func advanced(by microseconds: Int64) -> Timestamp {
    let (sum, isTooFar) = self.microseconds.addingReportingOverflow(microseconds)
    return Timestamp(microseconds: isTooFar ? (microseconds < 0 ? .min : .max) : sum)
  }
}
