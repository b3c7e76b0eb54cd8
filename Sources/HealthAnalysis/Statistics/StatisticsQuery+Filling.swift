import HealthModel

/// A bucket in a result, without a number if it has no samples.
public struct BucketEntry: Hashable, Sendable {
  public var bucket: Bucket
  public var number: BucketStatistics.Number?
  /// See ``BucketStatistics/isPartial``.
  public var isPartial: Bool

  /// Creates an entry.
  public init(bucket: Bucket, number: BucketStatistics.Number? = nil, isPartial: Bool) {
    (self.bucket, self.number, self.isPartial) = (bucket, number, isPartial)
  }
}

extension Statistics {
  /// The buckets that have a number.
  var entries: [BucketEntry] {
    values.map { BucketEntry(bucket: $0.bucket, number: $0.number, isPartial: $0.isPartial) }
  }
}

extension StatisticsQuery {
  /// Returns the buckets of a result of this query.
  ///
  /// - Parameter filling: whether to include buckets without samples, from ``start`` (or the first bucket with a
  ///   number) to ``end`` (or the last). Nothing is filled if an end is open and there are no numbers.
  /// - Throws: ``StatisticsError/tooManyBuckets``.
  public func entries(of statistics: Statistics, filling: Bool) throws(StatisticsError) -> [BucketEntry] {
    let known = statistics.entries
    guard filling, let first = start ?? known.first?.bucket.start, let last = end ?? known.last?.bucket.end,
      first < last
    else { return known }
    let buckets = try buckets(between: first, last)
    let byStart = Dictionary(known.map { ($0.bucket.start, $0) }, uniquingKeysWith: { one, _ in one })
    return (0..<buckets.count).map { index in
      let bucket = buckets[index]
      return byStart[bucket.start]
        ?? BucketEntry(
          bucket: bucket, number: nil, isPartial: bucket.isCut || bucket.start <= now && now < bucket.end)
    }
  }
}
