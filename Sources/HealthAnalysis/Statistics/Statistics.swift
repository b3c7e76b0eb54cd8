import HealthModel

/// The statistics of a type by bucket. Buckets without samples are absent rather than zero.
public struct Statistics: Hashable, Sendable {
  public var type: SampleType
  /// The unit of all numbers, or `nil` if unknown.
  public var unit: String?
  /// The aggregation of each bucket's number; ``SampleTypeCatalogue/Aggregation/discrete`` for an unknown type.
  public var aggregation: SampleTypeCatalogue.Aggregation
  public var size: BucketSize
  /// Whether weeks begin on Sunday instead of Monday.
  public var weekStartsOnSunday = false
  /// The name of the time zone that determines the buckets.
  public var zone: String
  /// The buckets with samples, in order of time.
  public var values: [BucketStatistics]
  /// The number of samples whose value is NaN or infinite.
  public var withoutNumber = 0
  /// The number of samples in a unit that does not convert to ``unit``.
  public var withoutUnit = 0
  /// The number of samples with an implausible time, if the query has no time limits; see
  /// ``StatisticsQuery/isPlausibleOnly``.
  public var implausibleTime = 0
}

/// The statistics of a bucket.
public struct BucketStatistics: Hashable, Sendable {
  /// The number of a bucket and its details.
  public enum Number: Hashable, Sendable {
    case sum(MergedSum)
    case discrete(DiscreteValues)
  }

  public var bucket: Bucket
  public var number: Number
  /// Whether the bucket is not over, ends after the record, or was cut by the query.
  public var isPartial: Bool
}

/// A sum over several sources, in which each source counts only where no source above it has data.
public struct MergedSum: Hashable, Sendable {
  public var sum: Double
  /// The sources that counted, from the highest rank to the lowest.
  public var sources: [Share]
  /// The number of samples left out because their source has an identical sample.
  public var twins: Int
  /// The part of the sum that comes from app readings instead of samples.
  public var readings = 0.0

  /// The contribution of a source to a sum.
  public struct Share: Hashable, Sendable {
    public var name: String
    /// The time for which the source counted in seconds, 0 if it has only instantaneous samples.
    public var seconds: Double
  }

  /// Creates a sum.
  ///
  /// - Parameter covered: the covered microseconds by rank.
  init(sum: Double, covered: [Int: Int64], twins: Int, _ ranking: RankTable) {
    (self.sum, self.twins) = (sum, twins)
    sources = covered.sorted { $0.key < $1.key }.map {
      Share(name: ranking.names[$0.key], seconds: Double($0.value) / 1_000_000)
    }
  }
}

/// The values of a discrete type, from the samples of all sources.
public struct DiscreteValues: Hashable, Sendable {
  public var minimum: Double
  public var maximum: Double
  /// The mean according to the type's aggregation: over time, over samples, or over sound energies. `nil` if no value
  /// holds in the bucket.
  public var mean: Double?
  /// The arithmetic mean of the samples, regardless of the aggregation.
  public var meanOfSamples: Double
  /// The number of samples that overlap the bucket.
  public var count: Int
  /// The value of the sample that ends last.
  public var last: Double
  /// The number of app readings included in ``count``.
  public var readings = 0
}
