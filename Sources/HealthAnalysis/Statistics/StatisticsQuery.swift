import HealthModel
import HealthStore

/// The reason why statistics cannot be computed.
public enum StatisticsError: Error, Hashable, Sendable {
  /// Samples of this type, such as workouts or sleep, have no numbers that can be added or averaged.
  case noQuantity(SampleType)
  /// The period has more buckets than a result may contain.
  case tooManyBuckets
}

/// A query for the statistics of a type.
///
/// ```swift
/// func steps(in store: HealthStore) async throws {
///   let zone = try ZoneRules(named: "Europe/Berlin")
///   let query = StatisticsQuery(SampleType("HKQuantityTypeIdentifierStepCount"), by: .day, in: zone)
///   for day in try await query.run(on: store).values {
///     if case .sum(let steps) = day.number { print(day.bucket.start, steps.sum) }
///   }
/// }
/// ```
///
/// The meaning of the numbers is documented in `docs/reference/statistics.md`. ``Rollups`` cache them.
public struct StatisticsQuery: Sendable {
  public var type: SampleType
  public var size: BucketSize
  public var zone: ZoneRules
  /// The start, or `nil` for the beginning of the record.
  public var start: Timestamp?
  /// The exclusive end, or `nil` for the end of the record.
  public var end: Timestamp?
  /// The names of the sources whose samples count, or `nil` for all. Their ranking is that of the whole store.
  public var sources: Set<String>?
  /// The range in which samples must start to count, in addition to overlapping ``start`` to ``end``; `nil` for no
  /// restriction.
  public var startingIn: Range<Timestamp>?
  /// The app readings that count if there are no samples.
  public var readings = ReadingRule.all
  /// The types of readings that may count, or `nil` for all. Used to restrict what a client may learn.
  public var readingTypes: Set<SampleType>?
  public var weekStartsOnSunday = false
  /// Whether samples beyond ``PlausibleTime/limits(from:to:now:)`` are left out on a side where ``start`` or ``end``
  /// is `nil`.
  public var isPlausibleOnly = false
  /// Whether buckets that end after the record (``RecordEnd``) are partial. Must be false for clients that may not
  /// know of other types, because the end of the record is derived from those.
  public var marksRecordEnd = true
  /// The current time. The bucket that contains it is partial.
  public var now: Timestamp

  /// Creates a query.
  ///
  /// - Parameter size: the size of the buckets.
  public init(_ type: SampleType, by size: BucketSize, in zone: ZoneRules, now: Timestamp = .now) {
    self.type = type
    self.size = size
    self.zone = zone
    self.now = now
  }

  /// Runs the query using the rollups beside the store.
  ///
  /// - Throws: ``StatisticsError`` or ``StoreError``.
  public func run(on store: HealthStore) async throws -> Statistics { try await run(on: Rollups(of: store)) }

  /// Runs the query, reusing rollups across queries.
  ///
  /// - Throws: ``StatisticsError`` or ``StoreError``.
  public func run(on rollups: Rollups) async throws -> Statistics {
    try await withReadings(try await rollups.statistics(self), rollups)
  }

  /// Computes the result from samples alone, without rollups and app readings. ``run(on:)`` must agree with it and
  /// falls back to it.
  public func computed(from store: HealthStore) async throws -> Statistics {
    try await computed(from: store, .none)
  }

  /// Computes the result from samples.
  ///
  /// - Parameter facts: the known facts about ``type``.
  func computed(from store: HealthStore, _ facts: KeptFacts) async throws -> Statistics {
    let entry = SampleTypeCatalogue.healthKit[type]
    guard entry.map({ $0.aggregation != nil }) ?? true else { throw StatisticsError.noQuantity(type) }
    // An app's own type has the aggregation of its HealthKit type.
    let healthKit = AppReadings.healthKit(type).flatMap { SampleTypeCatalogue.healthKit[$0] }
    let aggregation = entry?.aggregation ?? healthKit?.aggregation ?? .discrete
    let answer: Result<Statistics, StatisticsError> = try await store.samples.numbers { reader in
      do {
        return .success(try read(reader, facts, aggregation, unit: entry?.canonicalUnit))
      } catch let error as StatisticsError {
        return .failure(error)
      }
    }
    return try answer.get()
  }

  private func read(
    _ reader: NumberReader, _ facts: KeptFacts, _ aggregation: SampleTypeCatalogue.Aggregation, unit: String?
  ) throws -> Statistics {
    var statistics = Statistics(
      type: type, unit: unit, aggregation: aggregation, size: size, zone: zone.name, values: [])
    statistics.weekStartsOnSunday = weekStartsOnSunday
    statistics.implausibleTime = try implausible(reader)
    // Use only samples that count, because the number of buckets would reveal the time of the first and the last.
    guard let extent = try extent(reader),
      let counted = try plausible(extent, reader), let buckets = try buckets(counted)
    else { return statistics }
    var numbers = ConvertedNumbers(unit: unit, of: type)
    let found: [(index: Int, number: BucketStatistics.Number)]
    if aggregation == .cumulative {
      found = try sums(
        reader, buckets.edges, try facts.ranking(of: type, reader).table, &numbers,
        noLongerThan: facts.longest(of: type))
    } else {
      found = try discrete(
        reader, buckets.edges, aggregation, &numbers, noLongerThan: facts.longest(of: type))
    }
    statistics.values = try values(found, buckets, reader)
    statistics.unit = numbers.unit
    (statistics.withoutNumber, statistics.withoutUnit) = (numbers.withoutNumber, numbers.withoutUnit)
    return statistics
  }

  /// Returns the extent of the samples that count, in microseconds. If the query names both ends, returns these if
  /// any sample begins before the end.
  private func extent(_ reader: NumberReader) throws -> ClosedRange<Int64>? {
    guard let start, let end else { return try reader.extent(of: type, startingIn: startingIn, from: sources) }
    let before = Timestamp(microseconds: .min)..<end
    guard try reader.hasAny(of: type, startingIn: startingIn?.clamped(to: before) ?? before, from: sources) else {
      return nil
    }
    return min(start, end).microseconds...end.microseconds
  }

  private var limits: Range<Timestamp>? {
    isPlausibleOnly ? PlausibleTime.limits(from: start, to: end, now: now) : nil
  }

  /// Returns the number of samples left out because of their time.
  func implausible(_ reader: NumberReader) throws -> Int {
    try limits.map { try reader.count(of: type, outside: $0, from: sources) } ?? 0
  }

  /// Returns the extent without implausible times.
  ///
  /// - Parameter extent: the extent of the samples, in microseconds.
  /// - Returns: the extent from the first plausible sample, because the hours of a century would be too many buckets;
  ///   `nil` if there is none.
  func plausible(_ extent: ClosedRange<Int64>, _ reader: NumberReader) throws -> ClosedRange<Int64>? {
    guard let limits, extent.lowerBound < limits.lowerBound.microseconds else { return extent }
    let counted = try reader.extent(of: type, startingIn: limits, from: sources)
    return counted.map { $0.lowerBound...max($0.lowerBound, extent.upperBound) }
  }

  /// Returns the buckets of an extent.
  ///
  /// - Parameter extent: the extent of the samples, in microseconds.
  /// - Returns: `nil` if no sample can be in any bucket.
  func buckets(_ extent: ClosedRange<Int64>) throws(StatisticsError) -> CalendarBuckets? {
    // Samples that begin after the end are in no bucket and must not affect the number of buckets.
    if let end, extent.lowerBound >= end.microseconds { return nil }
    var first = start ?? Timestamp(microseconds: extent.lowerBound)
    var last = end ?? Timestamp(microseconds: extent.upperBound == .max ? .max : extent.upperBound + 1)
    var isLimited = (start: false, end: false)
    if let limits {
      isLimited = (first < limits.lowerBound, last > limits.upperBound)
      (first, last) = (max(first, limits.lowerBound), min(last, limits.upperBound))
    }
    return first < last ? try buckets(between: first, last, isLimited: isLimited) : nil
  }

  /// Returns the buckets between two instants.
  ///
  /// - Parameters:
  ///   - last: exclusive, and after `first`.
  ///   - isLimited: whether times before `first` or after `last` belong to no bucket although the query does not name
  ///     that end.
  func buckets(
    between first: Timestamp, _ last: Timestamp, isLimited: (start: Bool, end: Bool) = (false, false)
  ) throws(StatisticsError) -> CalendarBuckets {
    do {
      return try CalendarBuckets(
        size, in: zone, first..<last, cutsStart: start != nil || isLimited.start, cutsEnd: end != nil || isLimited.end,
        weekStartsOnSunday: weekStartsOnSunday)
    } catch {
      throw .tooManyBuckets
    }
  }

  /// Returns the sums by bucket.
  ///
  /// - Parameters:
  ///   - edges: the edges of the buckets, in microseconds.
  ///   - longest: see ``NumberReader/forEach(_:overlapping:from:withEarlier:noLongerThan:other:_:)``.
  func sums(
    _ reader: NumberReader, _ edges: [Int64], _ ranking: RankTable, _ numbers: inout ConvertedNumbers,
    noLongerThan longest: Int64? = nil
  ) throws -> [(index: Int, number: BucketStatistics.Number)] {
    var sweep = SumSweep(edges: edges, ranks: ranking.names.count)
    try reader.forEach(
      type, overlapping: edges[0]..<edges[edges.count - 1], from: sources, noLongerThan: longest
    ) { sample in
      guard startingIn?.contains(Timestamp(microseconds: sample.start)) ?? true,
        let value = numbers.value(of: sample, reader)
      else { return }
      sweep.add(
        start: sample.start, end: sample.end, value: value,
        rank: ranking.rank(of: sample.source, isUserEntered: sample.isUserEntered), unit: sample.unit)
    }
    return sweep.finish().map { index, sum in
      (index, .sum(MergedSum(sum: sum.value, covered: sum.covered, twins: sum.twins, ranking)))
    }
  }

  /// Returns the discrete values by bucket.
  ///
  /// - Parameters: see ``sums(_:_:_:_:noLongerThan:)``.
  func discrete(
    _ reader: NumberReader, _ edges: [Int64], _ aggregation: SampleTypeCatalogue.Aggregation,
    _ numbers: inout ConvertedNumbers, noLongerThan longest: Int64? = nil
  ) throws -> [(index: Int, number: BucketStatistics.Number)] {
    var sweep = DiscreteSweep(edges: edges, aggregation)
    try reader.forEach(
      type, overlapping: aggregation.reach(edges[0]..<edges[edges.count - 1]), from: sources,
      withEarlier: aggregation == .discreteTemporallyWeighted, noLongerThan: longest
    ) { sample in
      guard startingIn?.contains(Timestamp(microseconds: sample.start)) ?? true,
        let value = numbers.value(of: sample, reader, countedFrom: edges[0])
      else { return }
      sweep.add(start: sample.start, end: sample.end, value: value)
    }
    return sweep.finish().map { index, found in (index, .discrete(DiscreteValues(found))) }
  }

  /// Returns the numbers together with their buckets.
  func values(
    _ found: [(index: Int, number: BucketStatistics.Number)], _ buckets: CalendarBuckets, _ reader: NumberReader
  ) throws -> [BucketStatistics] {
    var values = found.map { index, number in
      let bucket = buckets[index]
      return BucketStatistics(
        bucket: bucket, number: number, isPartial: bucket.isCut || bucket.start <= now && now < bucket.end)
    }
    if marksRecordEnd { try RecordEnd(reader, now: now).mark(&values, of: type) }
    return values
  }
}
