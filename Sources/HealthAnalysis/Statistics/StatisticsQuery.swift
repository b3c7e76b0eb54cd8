import HealthModel
import HealthStore

/// Why there are no statistics.
public enum StatisticsError: Error, Hashable, Sendable {
  /// Samples of this type have no numbers that could be added up or averaged: workouts, sleep.
  case noQuantity(SampleType)
  /// Of so long a time there are more buckets than one answer may have.
  case tooManyBuckets
}

/// A question about the numbers of one type.
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
/// What a number means is written down in `docs/reference/statistics.md`. ``Rollups`` keep it.
public struct StatisticsQuery: Sendable {
  public var type: SampleType
  public var size: BucketSize
  public var zone: ZoneRules
  /// `nil` for the beginning of the record.
  public var start: Timestamp?
  /// Not included; `nil` for the end of the record.
  public var end: Timestamp?
  /// The names of sources whose samples count; `nil` for all. Their ranking is that of the whole store.
  public var sources: Set<String>?
  /// Only samples that start then count, whatever of them lies in ``start`` to ``end``; `nil` for all.
  public var startingIn: Range<Timestamp>?
  /// Which readings of apps count where no sample answers.
  public var readings = ReadingRule.all
  /// The types of readings that may count; `nil` for all. For an asker who may not know of some.
  public var readingTypes: Set<SampleType>?
  public var weekStartsOnSunday = false
  /// Whether, where ``start`` or ``end`` is `nil`, what lies there beyond ``PlausibleTime/limits(from:to:now:)`` is left out.
  public var isPlausibleOnly = false
  /// Whether buckets are partial that end after the record does (``RecordEnd``). Not for an asker who may not know of other
  /// types: from their samples it is told.
  public var marksRecordEnd = true
  /// A bucket that it lies in is partial.
  public var now: Timestamp

  /// - Parameter size: of the buckets.
  public init(_ type: SampleType, by size: BucketSize, in zone: ZoneRules, now: Timestamp = .now) {
    self.type = type
    self.size = size
    self.zone = zone
    self.now = now
  }

  /// From what is kept beside the store (``Rollups``). Throws ``StatisticsError`` or ``StoreError``.
  public func run(on store: HealthStore) async throws -> Statistics { try await run(on: Rollups(of: store)) }

  /// The same where several questions follow each other. Throws ``StatisticsError`` or ``StoreError``.
  public func run(on rollups: Rollups) async throws -> Statistics {
    try await withReadings(try await rollups.statistics(self), rollups)
  }

  /// From the samples, each of which is read: what ``run(on:)`` must say of them, too, and what answers where nothing is kept.
  /// Without readings of apps.
  public func computed(from store: HealthStore) async throws -> Statistics {
    try await computed(from: store, .none)
  }

  /// - Parameter facts: what is known of ``type``.
  func computed(from store: HealthStore, _ facts: KeptFacts) async throws -> Statistics {
    let entry = SampleTypeCatalogue.healthKit[type]
    guard entry.map({ $0.aggregation != nil }) ?? true else { throw StatisticsError.noQuantity(type) }
    // An app's own type adds up as HealthKit's does.
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
    // Of what counts alone: from how many buckets there would be, an asker is told where the first and the last are.
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

  /// The time of the samples that count, in microseconds; of a question that names both ends, these, where any begins before
  /// the last.
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

  /// How many samples are left out because of their time.
  func implausible(_ reader: NumberReader) throws -> Int {
    try limits.map { try reader.count(of: type, outside: $0, from: sources) } ?? 0
  }

  /// - Parameter extent: of the samples, in microseconds.
  /// - Returns: from the first that counts: of the hours of a whole century there would be too many. `nil` where none does.
  func plausible(_ extent: ClosedRange<Int64>, _ reader: NumberReader) throws -> ClosedRange<Int64>? {
    guard let limits, extent.lowerBound < limits.lowerBound.microseconds else { return extent }
    let counted = try reader.extent(of: type, startingIn: limits, from: sources)
    return counted.map { $0.lowerBound...max($0.lowerBound, extent.upperBound) }
  }

  /// - Parameter extent: of the samples, in microseconds.
  /// - Returns: `nil` where none of them can be in any.
  func buckets(_ extent: ClosedRange<Int64>) throws(StatisticsError) -> CalendarBuckets? {
    // What begins after the end is in no bucket, and may not say how many there are.
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

  /// - Parameters:
  ///   - last: not included, and after `first`.
  ///   - isLimited: whether what lies before `first` belongs to no bucket, or what lies after `last`, though the question names
  ///     neither.
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

  /// - Parameters:
  ///   - edges: of buckets, in microseconds.
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

  /// The numbers that were found, with their buckets.
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
