import HealthModel
import HealthStore

/// An overlay of app readings on statistics from samples.
///
/// - Cumulative types: over the time of a reading, the larger of the reading and the known sum counts. Nothing is
///   counted twice, and each source fills gaps of the other. Shorter readings are processed first, so that the
///   minutes and the day of the same app are not added up.
/// - Other types: a reading counts if no sample and no shorter reading begins in its time.
struct ReadingsOverlay {
  /// The maximum number of steps per query, because the sender controls the number and length of readings.
  private static let longestWork = 40_000_000

  private let query: StatisticsQuery
  private let reader: NumberReader
  private let facts: KeptFacts
  private let base: Statistics
  private let types: [SampleType]

  /// Creates an overlay.
  ///
  /// - Parameters:
  ///   - base: the result of the query from samples alone.
  ///   - reader: a reader of the store that gave the result.
  init(_ query: StatisticsQuery, _ reader: NumberReader, _ facts: KeptFacts, over base: Statistics) {
    (self.query, self.reader, self.facts, self.base) = (query, reader, facts, base)
    types = query.typesOfReadings
  }

  /// Returns the statistics including readings.
  ///
  /// - Throws: ``StatisticsError/tooManyBuckets``.
  func statistics() throws -> Statistics {
    let readings = try self.readings()
    guard let first = readings.map(\.start).min(), let last = readings.map(\.end).max() else { return base }
    // An edge that the query names takes precedence.
    let lower = min(first, base.values.first?.bucket.start.microseconds ?? first)
    let upper = max(last - 1, (base.values.last?.bucket.end.microseconds ?? .min + 1) - 1)
    guard let buckets = try query.buckets(lower...max(lower, upper)) else { return base }
    var known: [Timestamp: BucketStatistics] = [:]
    for value in base.values { known[value.bucket.start] = value }
    let found =
      base.aggregation == .cumulative
      ? try sums(readings, buckets, known) : try discrete(readings, buckets)
    if found.isEmpty { return base }
    let ends = try ends()
    for (index, number) in found {
      let bucket = buckets[index]
      var isPartial = bucket.isCut || bucket.start <= query.now && query.now < bucket.end
      if query.marksRecordEnd, let ends, ends < bucket.end { isPartial = true }
      known[bucket.start] = BucketStatistics(bucket: bucket, number: number, isPartial: isPartial)
    }
    var statistics = base
    statistics.values = known.values.sorted { $0.bucket.start < $1.bucket.start }
    if statistics.unit == nil { statistics.unit = SampleTypeCatalogue.healthKit[query.type]?.canonicalUnit }
    return statistics
  }

  /// Returns the end of the known samples and readings.
  private func ends() throws -> Timestamp? {
    let end = RecordEnd(reader, now: query.now)
    return try ([query.type] + types).compactMap { try end.of($0) }.max()
  }

  // MARK: Readings

  /// Returns the readings that count, shorter ones first.
  private func readings() throws -> [AppReading] {
    let longest = query.readings.longest(in: query.size)
    let start = query.start?.microseconds ?? .min
    // A scope or a setting may end before the requested start.
    var range = start..<max(start, query.end?.microseconds ?? .max)
    if query.isPlausibleOnly {
      let limits = PlausibleTime.limits(from: query.start, to: query.end, now: query.now)
      range = range.clamped(to: limits.lowerBound.microseconds..<limits.upperBound.microseconds)
    }
    if range.isEmpty { return [] }
    // A reading across an edge of the query is compared over its whole time.
    let first = range.lowerBound.subtractingReportingOverflow(longest)
    let last = range.upperBound.addingReportingOverflow(longest)
    range = (first.overflow ? .min : first.partialValue)..<(last.overflow ? .max : last.partialValue)
    let granted = query.startingIn
    var readings: [AppReading] = []
    for type in types {
      try reader.forEachReading(type, overlapping: range, from: query.sources, noLongerThan: longest) { stored in
        // A reading that ends beyond the granted time would be compared with samples that the client may not know.
        guard granted?.contains(Timestamp(microseconds: stored.start)) ?? true,
          granted.map({ stored.end <= $0.upperBound.microseconds }) ?? true,
          let reading = AppReading(stored, type, of: query.type), reading.length <= longest
        else { return }
        readings.append(reading)
      }
    }
    return readings.sorted(by: AppReading.precedes)
  }

  // MARK: Sums

  private struct Added {
    var value = 0.0
    /// The covered microseconds by source.
    var covered: [String: Int64] = [:]
  }

  private func sums(
    _ readings: [AppReading], _ buckets: CalendarBuckets, _ known: [Timestamp: BucketStatistics]
  ) throws -> [(index: Int, number: BucketStatistics.Number)] {
    let range = buckets.range
    var times: Set<Int64> = []
    for reading in readings {
      // Edges outside the buckets are needed because they delimit parts of readings.
      times.insert(reading.start)
      times.insert(reading.end)
    }
    guard let first = times.min(), let last = times.max() else { return [] }
    times.formUnion(buckets.edges.filter { first < $0 && $0 < last })
    let edges = times.sorted()
    guard edges.count > 1 else { return [] }
    let positions = Dictionary(uniqueKeysWithValues: edges.enumerated().map { ($1, $0) })
    var sums = Array(repeating: 0.0, count: edges.count - 1)
    var numbers = ConvertedNumbers(unit: SampleTypeCatalogue.healthKit[query.type]?.canonicalUnit, of: query.type)
    let ranking = try facts.ranking(of: query.type, reader).table
    for (index, number) in try query.sums(reader, edges, ranking, &numbers, noLongerThan: facts.longest(of: query.type))
    {
      if case .sum(let sum) = number { sums[index] = sum.sum }
    }
    var added: [Int: Added] = [:]
    var work = 0
    for reading in readings {
      guard let from = positions[reading.start], let to = positions[reading.end] else { continue }
      work += to - from
      if work > Self.longestWork { break }
      let missing = reading.value - sums[from..<to].reduce(0, +)
      let isMissing = missing > 1e-9 * abs(reading.value)
      for index in from..<to {
        let length = edges[index + 1] - edges[index]
        let part = isMissing ? missing * Double(length) / Double(reading.length) : 0
        sums[index] += part
        guard edges[index] >= range.lowerBound, edges[index] < range.upperBound else { continue }
        let bucket = buckets.edges.lastIndex(notAfter: edges[index])
        // A reading that adds nothing to the samples leaves the result unchanged.
        guard isMissing || reading.value == 0 && known[buckets[bucket].start] == nil else { continue }
        added[bucket, default: Added()].value += part
        added[bucket]?.covered[reading.source, default: 0] += isMissing ? length : 0
      }
    }
    return added.sorted { $0.key < $1.key }.map { bucket, added in
      var sum = MergedSum(sum: 0, covered: [:], twins: 0, ranking)
      if case .sum(let samples)? = known[buckets[bucket].start]?.number { sum = samples }
      sum.sum += added.value
      sum.readings = added.value
      sum.sources += added.covered.sorted { $0.key < $1.key }.map {
        MergedSum.Share(name: $0.key, seconds: Double($0.value) / 1_000_000)
      }
      return (bucket, .sum(sum))
    }
  }

  // MARK: Anything else

  private func discrete(
    _ readings: [AppReading], _ buckets: CalendarBuckets
  ) throws -> [(index: Int, number: BucketStatistics.Number)] {
    let range = buckets.range
    let counted = try counted(readings).filter { $0.end > range.lowerBound && $0.start < range.upperBound }
    guard !counted.isEmpty else { return [] }
    var touched: [Int: Extremes] = [:]
    for reading in counted {
      let first = buckets.edges.lastIndex(notAfter: max(reading.start, range.lowerBound))
      let last = buckets.edges.lastIndex(notAfter: min(reading.end, range.upperBound) - 1)
      for index in first...last {
        touched[index, default: Extremes()].count += 1
        // The extremes of a longer reading may have occurred in another bucket.
        if first == last, let extremes = reading.extremes { touched[index]?.add(extremes) }
      }
    }
    guard let first = touched.keys.min(), let last = touched.keys.max() else { return [] }
    let edges = Array(buckets.edges[first...last + 1])
    var numbers = ConvertedNumbers(unit: SampleTypeCatalogue.healthKit[query.type]?.canonicalUnit, of: query.type)
    var sweep = DiscreteSweep(edges: edges, base.aggregation)
    var next = 0
    func add(before start: Int64) {
      while next < counted.count, counted[next].start < start {
        // An instantaneous reading has no length, like an instantaneous sample.
        let reading = counted[next]
        sweep.add(start: reading.start, end: reading.length == 1 ? reading.start : reading.end, value: reading.value)
        next += 1
      }
    }
    try reader.forEach(
      query.type, overlapping: base.aggregation.reach(edges[0]..<edges[edges.count - 1]), from: query.sources,
      withEarlier: base.aggregation == .discreteTemporallyWeighted, noLongerThan: facts.longest(of: query.type)
    ) { sample in
      guard query.startingIn?.contains(Timestamp(microseconds: sample.start)) ?? true,
        let value = numbers.value(of: sample, reader, countedFrom: edges[0])
      else { return }
      add(before: sample.start)
      sweep.add(start: sample.start, end: sample.end, value: value)
    }
    add(before: .max)
    return sweep.finish().compactMap { index, found in
      guard let sent = touched[first + index] else { return nil }
      var values = DiscreteValues(found)
      values.readings = sent.count
      values.minimum = min(values.minimum, sent.minimum)
      values.maximum = max(values.maximum, sent.maximum)
      return (first + index, .discrete(values))
    }
  }

  /// The number and the extremes of the readings in a bucket.
  private struct Extremes {
    var count = 0
    var minimum = Double.infinity
    var maximum = -Double.infinity

    mutating func add(_ extremes: ClosedRange<Double>) {
      minimum = min(minimum, extremes.lowerBound)
      maximum = max(maximum, extremes.upperBound)
    }
  }

  /// Returns the readings in whose time no sample and no shorter reading begins, in order of their starts.
  ///
  /// - Parameter readings: shorter ones first.
  private func counted(_ readings: [AppReading]) throws -> [AppReading] {
    guard let first = readings.map(\.start).min(), let last = readings.map(\.end).max() else { return [] }
    var taken: [Int64] = []
    var numbers = ConvertedNumbers(unit: SampleTypeCatalogue.healthKit[query.type]?.canonicalUnit, of: query.type)
    try reader.forEach(
      query.type, overlapping: first..<last, from: query.sources, noLongerThan: facts.longest(of: query.type)
    ) { sample in
      guard query.startingIn?.contains(Timestamp(microseconds: sample.start)) ?? true,
        numbers.value(of: sample, reader) != nil
      else { return }
      taken.append(sample.start)
    }
    var counted: [AppReading] = []
    var (index, work) = (0, 0)
    while index < readings.count {
      let length = readings[index].length
      var end = Int64.min
      var new: [Int64] = []
      while index < readings.count, readings[index].length == length {
        let reading = readings[index]
        index += 1
        // Of several readings with the same length that overlap, the first counts.
        guard reading.start >= end, !taken.hasElement(in: reading.start..<reading.end) else { continue }
        counted.append(reading)
        new.append(reading.start)
        end = reading.end
      }
      if new.isEmpty { continue }
      work += taken.count + new.count
      if work > Self.longestWork { break }
      taken = (taken + new).sorted()
    }
    return counted.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
  }
}

extension [Int64] {
  /// Returns whether an ascending array has an element in a range.
  fileprivate func hasElement(in range: Range<Int64>) -> Bool {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < range.lowerBound { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low] < range.upperBound
  }
}

extension StatisticsQuery {
  /// The types of readings that may contribute to the query, empty for types that are not HealthKit's.
  var typesOfReadings: [SampleType] {
    guard readings != .none else { return [] }
    return AppReadings.types(of: type).filter { readingTypes?.contains($0) ?? true }
  }

  /// Returns the statistics with app readings added.
  ///
  /// - Parameter rollups: the rollups of the store that gave the statistics.
  func withReadings(_ statistics: Statistics, _ rollups: Rollups) async throws -> Statistics {
    guard !typesOfReadings.isEmpty else { return statistics }
    let facts = try await rollups.facts(about: [type])
    let answer: Result<Statistics, StatisticsError> = try await rollups.store.samples.numbers { reader in
      do {
        return .success(try ReadingsOverlay(self, reader, facts, over: statistics).statistics())
      } catch let error as StatisticsError {
        return .failure(error)
      }
    }
    return try answer.get()
  }
}
