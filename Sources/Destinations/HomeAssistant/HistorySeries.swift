import HealthAnalysis
import HealthModel

/// An hour of a statistic.
struct HistoryHour: Hashable, Sendable {
  enum Value: Hashable, Sendable {
    /// The amount added within the hour.
    case sum(Double)
    case mean(Double, minimum: Double, maximum: Double)
  }

  /// The number of hours since 1970 in UTC, as Home Assistant counts them.
  var number: Int64
  /// The value in the record's unit.
  var value: Value

  var start: Timestamp { Timestamp(seconds: number * 3_600) }
  /// The day in UTC, in days since 1970-01-01.
  var day: Int { Int(number >= 0 ? number / 24 : (number - 23) / 24) }
}

/// The hourly numbers of a type in UTC, for Home Assistant's long-term statistics, with fingerprints of days.
struct HistorySeries: Sendable {
  private static let utc = ZoneRules(offset: 0, name: "UTC")
  /// The number of days whose hours are read at once, to limit the memory for buckets.
  private static let daysAtOnce = 100

  private let record: RecordReader
  /// The record in the home time zone, for nights: a night belongs to a local day, and only its hour is in UTC.
  private let home: RecordReader
  let type: SampleType
  private let now: Timestamp

  init(of type: SampleType, in record: RecordReader, now: Timestamp = .now) {
    home = record
    self.record = RecordReader(record.store, filter: record.filter, zone: Self.utc, units: record.units)
    (self.type, self.now) = (type, now)
  }

  /// Returns whether a type has hourly numbers.
  static func exists(of type: SampleType) -> Bool {
    // An app's sums are included in the statistics of the HealthKit type.
    if let known = AppReadings.healthKit(type), SampleTypeCatalogue.healthKit[known]?.aggregation == .cumulative {
      return false
    }
    let entry = SampleTypeCatalogue.healthKit[type]
    return type == SleepQuery.type || (entry.map { $0.aggregation != nil } ?? true)
  }

  /// Returns the days in UTC that a batch has changed.
  static func days(of type: SampleType, _ times: ChangedTimes) -> [ClosedRange<Int>] { times.days(of: type, in: utc) }

  /// Whether the type is cumulative.
  var isSum: Bool { SampleTypeCatalogue.healthKit[type]?.aggregation == .cumulative }

  /// The number of a whole day.
  struct Day: Hashable, Sendable {
    /// The sum of the day; 0 for a type that is not cumulative.
    var sum: Double
    /// The fingerprint of the day's numbers.
    var print: UInt64
  }

  /// Returns each day that has samples, in days since 1970-01-01 in UTC.
  func days() async throws -> [Int: Day] {
    if type == SleepQuery.type {
      return Dictionary(grouping: try await nights(), by: \.day).mapValues { Day(sum: 0, print: Self.print($0)) }
    }
    var days: [Int: Day] = [:]
    for hour in try await numbers(.day, 0...lastDay) {
      days[hour.day] = Day(sum: hour.sum, print: Self.print([hour]))
    }
    return days
  }

  /// Returns the hours of some days that have samples, in order.
  func hours(of days: ClosedRange<Int>) async throws -> [HistoryHour] {
    if type == SleepQuery.type { return try await nights().filter { days.contains($0.day) } }
    var hours: [HistoryHour] = []
    for first in stride(from: days.lowerBound, through: days.upperBound, by: Self.daysAtOnce) {
      hours += try await numbers(.hour, first...min(first + Self.daysAtOnce - 1, days.upperBound))
    }
    return hours
  }

  private var lastDay: Int { Self.utc.dayNumber(at: now.seconds) + 1 }

  /// Returns the numbers of some days, from 1970 to tomorrow at most, so that a wrong clock adds no years.
  private func numbers(_ size: BucketSize, _ days: ClosedRange<Int>) async throws -> [HistoryHour] {
    let (first, last) = (max(0, days.lowerBound), min(days.upperBound, lastDay))
    guard first <= last else { return [] }
    let statistics = try await record.statistics(
      of: type, by: size, from: Timestamp(seconds: Int64(first) * 86_400),
      to: Timestamp(seconds: Int64(last + 1) * 86_400), now: now, readings: .upToAnHour)
    return statistics.values.compactMap { bucket in
      let value: HistoryHour.Value
      switch bucket.number {
      case .sum(let sum):
        guard sum.sum.isFinite else { return nil }
        value = .sum(sum.sum)
      case .discrete(let found):
        let mean = found.mean ?? found.meanOfSamples
        guard mean.isFinite, found.minimum.isFinite, found.maximum.isFinite else { return nil }
        value = .mean(mean, minimum: found.minimum, maximum: found.maximum)
      }
      return HistoryHour(number: bucket.bucket.start.seconds / 3_600, value: value)
    }
  }

  /// Returns the nights, each as the hour in which it ended.
  private func nights() async throws -> [HistoryHour] {
    var hours: [Int64: HistoryHour] = [:]
    for night in try await home.nights(upTo: home.zone.dayNumber(at: now.seconds) + 1) {
      guard let asleep = night.main.asleep, let wake = night.main.wake, wake.seconds >= 0 else { continue }
      let number = wake.seconds / 3_600
      // Sleep that continues past the end of a sleep day counts for the next day, and may end within the same hour.
      if case .mean(let other, _, _)? = hours[number]?.value, other >= asleep / 3_600 { continue }
      hours[number] = HistoryHour(
        number: number, value: .mean(asleep / 3_600, minimum: asleep / 3_600, maximum: asleep / 3_600))
    }
    return hours.values.sorted { $0.number < $1.number }
  }

  /// Returns a fingerprint of the hours (FNV-1a): equal for equal numbers, and almost certainly different for others.
  static func print(_ hours: some Sequence<HistoryHour>) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ word: UInt64) {
      for shift in stride(from: UInt64(0), to: 64, by: 8) { hash = (hash ^ (word >> shift & 0xFF)) &* 0x100_0000_01b3 }
    }
    // Rounding to Float ignores differences in the last bits, which depend on the order of summation.
    func add(_ value: Double) { add(Double(Float(value)).bitPattern) }
    for hour in hours {
      add(UInt64(bitPattern: hour.number))
      switch hour.value {
      case .sum(let sum): add(sum)
      case .mean(let mean, let minimum, let maximum):
        add(mean)
        add(minimum)
        add(maximum)
      }
    }
    return hash
  }
}

extension HistoryHour {
  /// The sum; 0 for a type that is not cumulative.
  var sum: Double {
    if case .sum(let sum) = value { return sum }
    return 0
  }
}

/// A sorted array of hours, with the range of each day in UTC.
struct HoursByDay: Sendable {
  private let hours: [HistoryHour]
  private var ranges: [Int: Range<Int>] = [:]

  /// Groups hours by day.
  ///
  /// - Parameter hours: must be sorted.
  init(_ hours: [HistoryHour]) {
    self.hours = hours
    for (index, hour) in hours.enumerated() {
      let day = hour.day
      ranges[day] = (ranges[day]?.lowerBound ?? index)..<(index + 1)
    }
  }

  /// The days that have hours, in days since 1970-01-01.
  var days: Set<Int> { Set(ranges.keys) }

  /// Returns the hours of one day, which are empty if there are none.
  subscript(day: Int) -> ArraySlice<HistoryHour> { ranges[day].map { hours[$0] } ?? [] }

  /// Returns a copy that is limited to some days.
  func of(_ days: Set<Int>) -> HoursByDay {
    var found = self
    found.ranges = ranges.filter { days.contains($0.key) }
    return found
  }
}
