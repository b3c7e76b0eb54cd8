import HealthModel

/// The length of a bucket.
public enum BucketSize: String, Hashable, Sendable, CaseIterable {
  /// An hour on the clock. The hour before or after a clock change may be shorter.
  case hour
  /// A calendar period in local time. A day lasts as long as its date.
  case day, week, month, year
}

/// An interval of time that has a single number.
public struct Bucket: Hashable, Sendable {
  public var start: Timestamp
  /// The exclusive end.
  public var end: Timestamp
  /// The UTC offset at ``start`` in seconds east of UTC, which distinguishes the two occurrences of a repeated hour.
  public var offset: Int
  /// Whether the query cut off a part of the bucket.
  public var isCut: Bool
}

/// A division of time into hours, days, weeks, months or years of a time zone.
///
/// ```swift
/// let berlin = try ZoneRules(named: "Europe/Berlin")
/// let day = berlin.day(19_813)  // 2024-03-31, on which clocks were put forward
/// let range = Timestamp(seconds: day.lowerBound)..<Timestamp(seconds: day.upperBound)
/// let hours = try CalendarBuckets(.hour, in: berlin, range)
/// print(hours.count)            // 23
/// ```
public struct CalendarBuckets: Sendable {
  /// The maximum number of buckets, fifty years of hours.
  public static let maximumCount = 450_000

  /// An error that is thrown if a range has too many buckets.
  public struct TooMany: Error, Hashable, Sendable {}

  public let size: BucketSize
  public let zone: ZoneRules
  /// The edges in ascending order, in microseconds. Each bucket ends where the next begins.
  let edges: [Int64]
  /// Whether the first and the last bucket are incomplete.
  private let isCut: (first: Bool, last: Bool)

  public var count: Int { edges.count - 1 }

  /// The range of all buckets, in microseconds since 1970.
  var range: Range<Int64> { edges[0]..<edges[edges.count - 1] }

  /// Creates the buckets of a range.
  ///
  /// - Parameters:
  ///   - range: must not be empty; limited to the years 1 to 9999.
  ///   - cutsStart: whether the first bucket begins with the range; otherwise it is extended to be complete.
  ///   - cutsEnd: whether the last bucket ends with the range; otherwise it is extended to be complete.
  ///   - weekStartsOnSunday: whether weeks begin on Sunday instead of Monday, as in ISO 8601.
  /// - Throws: ``TooMany``.
  public init(
    _ size: BucketSize, in zone: ZoneRules, _ range: Range<Timestamp>, cutsStart: Bool = true, cutsEnd: Bool = true,
    weekStartsOnSunday: Bool = false
  ) throws(TooMany) {
    self.size = size
    self.zone = zone
    let lower = min(max(range.lowerBound, Self.years.lowerBound), Timestamp(seconds: Self.years.upperBound.seconds - 1))
    let upper = max(min(range.upperBound, Self.years.upperBound), Timestamp(microseconds: lower.microseconds + 1))
    let (first, last) = (lower.seconds, upper.roundedUpToSecond.seconds)
    // Check a lower bound first, so that excessive numbers of buckets are not created.
    let longest: Int64 = size == .hour ? 7200 : 90_000
    guard ![.hour, .day].contains(size) || (last - first) / longest <= Int64(Self.maximumCount) else { throw TooMany() }
    let starts = Self.starts(size, zone, first, last, weekStartsOnSunday).map { $0 * 1_000_000 }
    guard starts.count <= Self.maximumCount else { throw TooMany() }
    let begin = cutsStart ? max(starts[0], lower.microseconds) : starts[0]
    let end = cutsEnd ? min(starts[starts.count - 1], upper.microseconds) : starts[starts.count - 1]
    isCut = (begin != starts[0], end != starts[starts.count - 1])
    edges = [begin] + starts.dropFirst().dropLast() + [end]
  }

  /// The years that can be divided into buckets, 1 to 9999.
  static let years = Timestamp(seconds: -62_135_596_800)...Timestamp(seconds: 253_402_300_799)

  /// Returns the index of the bucket that contains an instant, or `nil` if there is none.
  public func index(of instant: Timestamp) -> Int? {
    range.contains(instant.microseconds) ? edges.lastIndex(notAfter: instant.microseconds) : nil
  }

  /// Returns the start of the first of `count` consecutive buckets, the last of which contains the instant.
  ///
  /// - Throws: ``TooMany``.
  public static func start(
    ofLast count: Int, _ size: BucketSize, in zone: ZoneRules, to instant: Timestamp
  ) throws(TooMany) -> Timestamp {
    let longest: Int64 =
      switch size {
      case .hour: 3600
      case .day: 90_000
      case .week: 8 * 86_400
      case .month: 31 * 86_400
      case .year: 366 * 86_400
      }
    let earliest = Timestamp(seconds: max(instant.seconds, years.lowerBound.seconds) - Int64(count) * longest)
    let next = Timestamp(microseconds: min(instant.microseconds, .max - 1) + 1)
    let buckets = try CalendarBuckets(
      size, in: zone, min(earliest, next)..<next, cutsStart: false, cutsEnd: false)
    return buckets[max(0, buckets.count - count)].start
  }

  /// Returns the starts of the buckets, from the one that contains `first` to the end of the one that contains the
  /// instant before `last`.
  private static func starts(
    _ size: BucketSize, _ zone: ZoneRules, _ first: Int64, _ last: Int64, _ weekStartsOnSunday: Bool
  ) -> [Int64] {
    var result: [Int64] = []
    if size == .hour {
      let before = zone.hourStarts(in: first - 7200..<first + 1).last ?? first
      let hours = zone.hourStarts(in: before..<last + 7200)
      let end = hours.firstIndex { $0 >= last } ?? hours.count - 1
      return [before] + hours[...end].drop { $0 <= before }
    }
    var day = beginning(of: size, zone.dayNumber(at: first), weekStartsOnSunday)
    // If clocks are set back across midnight, the previous date occurs again.
    while zone.start(ofDay: day) > first { day = beginning(of: size, day - 1, weekStartsOnSunday) }
    while true {
      let start = zone.start(ofDay: day)
      // A date that was skipped has no bucket.
      if start == result.last { result.removeLast() }
      result.append(start)
      if start >= last { break }
      if result.count > maximumCount { break }
      day = next(size, day)
    }
    // Remove starts before the bucket that contains `first`.
    while result.count > 2, result[1] <= first { result.removeFirst() }
    return result
  }

  /// Returns the first day of the period that contains a day.
  private static func beginning(of size: BucketSize, _ day: Int, _ weekStartsOnSunday: Bool) -> Int {
    let date = Timestamp(seconds: Int64(day) * 86_400).civil
    switch size {
    case .hour, .day: return day
    // 1970-01-01 was a Thursday.
    case .week: return day - ((day + (weekStartsOnSunday ? 4 : 3)) % 7 + 7) % 7
    case .month: return day - date.day + 1
    case .year: return Timestamp.daysFromCivil(year: date.year, month: 1, day: 1)
    }
  }

  /// Returns the first day of the following period.
  ///
  /// - Parameter day: the first day of a period.
  private static func next(_ size: BucketSize, _ day: Int) -> Int {
    let date = Timestamp(seconds: Int64(day) * 86_400).civil
    switch size {
    case .hour, .day: return day + 1
    case .week: return day + 7
    case .month:
      return Timestamp.daysFromCivil(
        year: date.month == 12 ? date.year + 1 : date.year, month: date.month % 12 + 1, day: 1)
    case .year: return Timestamp.daysFromCivil(year: date.year + 1, month: 1, day: 1)
    }
  }

  /// Returns a bucket.
  ///
  /// - Parameter index: at least 0 and less than ``count``.
  public subscript(index: Int) -> Bucket {
    let (start, end) = (Timestamp(microseconds: edges[index]), Timestamp(microseconds: edges[index + 1]))
    return Bucket(
      start: start, end: end, offset: zone.offset(at: start.seconds),
      isCut: index == 0 && isCut.first || index == count - 1 && isCut.last)
  }
}

extension [Int64] {
  /// Returns the index of the last element that is not greater than `value`, or 0 if all are greater. The array is
  /// ascending.
  func lastIndex(notAfter value: Int64) -> Int {
    var (low, high) = (0, count)
    while low + 1 < high {
      let middle = (low + high) / 2
      if self[middle] <= value { low = middle } else { high = middle }
    }
    return low
  }
}
