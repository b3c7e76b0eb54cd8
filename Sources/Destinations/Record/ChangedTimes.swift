import HealthAnalysis
import HealthModel

/// The time ranges of each type that a batch changes: the whole durations of its added and deleted samples.
///
/// ```swift
/// func days(of batch: DeliveryBatch, in zone: ZoneRules) -> [ClosedRange<Int>] {
///   ChangedTimes(batch).days(of: SampleType("HKQuantityTypeIdentifierStepCount"), in: zone)
/// }
/// ```
///
/// ``RecordReader`` returns the current numbers. If a batch starts over, this covers only the batch, although the
/// rest of the record has changed, too.
public struct ChangedTimes: Sendable {
  /// The assumed length of a deleted sample if its tombstone has no end: the longest possible day, in microseconds.
  private static let longest: Int64 = 25 * 3_600_000_000
  /// The margin in microseconds for a copy that replaces a sample with a slightly different start.
  private static let drift: Int64 = 1_000_000
  /// The time for which a heart rate value counts after its end, in microseconds: see docs/reference/statistics.md.
  private static let lasting: Int64 = 300_000_000

  /// The changed ranges of each type, sorted by time, not empty, without overlaps.
  private var ranges: [SampleType: [Range<Timestamp>]] = [:]

  /// Collects the ranges without decoding samples.
  ///
  /// - Parameter hasAnswers: whether an app's reading also counts as a change of the HealthKit type that it measures.
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

  /// The types of which something has changed.
  public var types: Set<SampleType> { Set(ranges.keys) }

  /// Returns the changed ranges of a type, sorted by time, without overlaps; empty if it hasn't changed.
  public func ranges(of type: SampleType) -> [Range<Timestamp>] { ranges[type] ?? [] }

  /// Returns the days that the ranges overlap, in days since 1970-01-01, sorted. Consecutive days form one range.
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
  /// Returns the timestamp moved by some microseconds, limited to the first or last possible timestamp.
  func advanced(by microseconds: Int64) -> Timestamp {
    let (sum, isTooFar) = self.microseconds.addingReportingOverflow(microseconds)
    return Timestamp(microseconds: isTooFar ? (microseconds < 0 ? .min : .max) : sum)
  }
}
