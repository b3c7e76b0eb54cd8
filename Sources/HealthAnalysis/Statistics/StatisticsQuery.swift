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
/// What a number means is written down in `docs/statistics.md`. It is computed from the samples each time.
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
  public var weekStartsOnSunday = false
  /// A bucket that it lies in is partial.
  public var now: Timestamp

  /// - Parameter size: of the buckets.
  public init(_ type: SampleType, by size: BucketSize, in zone: ZoneRules, now: Timestamp = .now) {
    self.type = type
    self.size = size
    self.zone = zone
    self.now = now
  }

  /// Throws ``StatisticsError`` or ``StoreError``.
  public func run(on store: HealthStore) async throws -> Statistics {
    let entry = SampleTypeCatalogue.healthKit[type]
    guard entry.map({ $0.aggregation != nil }) ?? true else { throw StatisticsError.noQuantity(type) }
    let aggregation = entry?.aggregation ?? .discrete
    let answer: Result<Statistics, StatisticsError> = try await store.samples.numbers { reader in
      do {
        return .success(try read(reader, aggregation, unit: entry?.canonicalUnit))
      } catch let error as StatisticsError {
        return .failure(error)
      }
    }
    return try answer.get()
  }

  private func read(
    _ reader: NumberReader, _ aggregation: SampleTypeCatalogue.Aggregation, unit: String?
  ) throws -> Statistics {
    var statistics = Statistics(
      type: type, unit: unit, aggregation: aggregation, size: size, zone: zone.name, values: [])
    statistics.weekStartsOnSunday = weekStartsOnSunday
    guard let range = try range(reader) else { return statistics }
    let buckets: CalendarBuckets
    do {
      buckets = try CalendarBuckets(
        size, in: zone, range, cutsStart: start != nil, cutsEnd: end != nil, weekStartsOnSunday: weekStartsOnSunday)
    } catch {
      throw StatisticsError.tooManyBuckets
    }
    var numbers = ConvertedNumbers(unit: unit)
    if aggregation == .cumulative {
      statistics.values = try sums(reader, buckets, &numbers)
    } else {
      statistics.values = try discrete(reader, buckets, aggregation, &numbers)
    }
    statistics.unit = numbers.unit
    (statistics.withoutNumber, statistics.withoutUnit) = (numbers.withoutNumber, numbers.withoutUnit)
    return statistics
  }

  private func range(_ reader: NumberReader) throws -> Range<Timestamp>? {
    guard let extent = try reader.extent(of: type, from: sources) else { return nil }
    let first = start ?? Timestamp(microseconds: extent.lowerBound)
    let last = end ?? Timestamp(microseconds: extent.upperBound == .max ? .max : extent.upperBound + 1)
    return first < last ? first..<last : nil
  }

  private func sums(
    _ reader: NumberReader, _ buckets: CalendarBuckets, _ numbers: inout ConvertedNumbers
  ) throws -> [BucketStatistics] {
    let ranking = try SourceRanking(of: type, reader)
    var sweep = SumSweep(edges: buckets.edges, ranks: ranking.sources.count)
    try reader.forEach(type, overlapping: buckets.range, from: sources) { sample in
      guard let value = numbers.value(of: sample, reader) else { return }
      sweep.add(
        start: sample.start, end: sample.end, value: value,
        rank: ranking.rank(of: sample.source, isUserEntered: sample.isUserEntered), unit: sample.unit)
    }
    return sweep.finish().map { index, sum in
      let shares = sum.covered.sorted { $0.key < $1.key }.map { rank, covered in
        MergedSum.Share(name: ranking.sources[rank].name, seconds: Double(covered) / 1_000_000)
      }
      return bucket(buckets[index], .sum(MergedSum(sum: sum.value, sources: shares, twins: sum.twins)))
    }
  }

  private func discrete(
    _ reader: NumberReader, _ buckets: CalendarBuckets, _ aggregation: SampleTypeCatalogue.Aggregation,
    _ numbers: inout ConvertedNumbers
  ) throws -> [BucketStatistics] {
    var sweep = DiscreteSweep(edges: buckets.edges, aggregation)
    try reader.forEach(type, overlapping: LastingValues.reach(buckets.range), from: sources) { sample in
      guard let value = numbers.value(of: sample, reader) else { return }
      sweep.add(start: sample.start, end: sample.end, value: value)
    }
    return sweep.finish().map { index, found in
      bucket(buckets[index], .discrete(DiscreteValues(found)))
    }
  }

  private func bucket(_ bucket: Bucket, _ number: BucketStatistics.Number) -> BucketStatistics {
    BucketStatistics(
      bucket: bucket, number: number, isPartial: bucket.isCut || bucket.start <= now && now < bucket.end)
  }
}
