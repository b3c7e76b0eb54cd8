import HealthModel

/// The numbers of one type, a bucket each; those without samples are absent, which is not zero.
public struct Statistics: Hashable, Sendable {
  public var type: SampleType
  /// Of all numbers; `nil` where nothing says it.
  public var unit: String?
  /// What a bucket's number is; ``SampleTypeCatalogue/Aggregation/discrete`` of a type that nobody knows.
  public var aggregation: SampleTypeCatalogue.Aggregation
  public var size: BucketSize
  /// Whether weeks begin on Sunday, or on Monday.
  public var weekStartsOnSunday = false
  /// The name of the zone whose days these are.
  public var zone: String
  /// In order of time.
  public var values: [BucketStatistics]
  /// Samples that say no number: NaN, or an infinite one.
  public var withoutNumber = 0
  /// Samples in a unit that does not convert to ``unit``.
  public var withoutUnit = 0
  /// Samples whose time cannot be right, in a question that names none; see ``StatisticsQuery/isPlausibleOnly``.
  public var implausibleTime = 0
}

/// What the samples of one bucket say together.
public struct BucketStatistics: Hashable, Sendable {
  /// A number for people to read, and what it is made of.
  public enum Number: Hashable, Sendable {
    case sum(MergedSum)
    case discrete(DiscreteValues)
  }

  public var bucket: Bucket
  public var number: Number
  /// Whether the bucket is not over, ends after the record does, or was cut by the question.
  public var isPartial: Bool
}

/// A sum over sources of which each counts only where none above it has data.
public struct MergedSum: Hashable, Sendable {
  public var sum: Double
  /// Those that counted, from the highest rank to the lowest.
  public var sources: [Share]
  /// Samples that were left out because their source says the very same twice.
  public var twins: Int
  /// The part of the sum that no sample has, but a reading of an app.
  public var readings = 0.0

  /// What one source had to do with a sum.
  public struct Share: Hashable, Sendable {
    public var name: String
    /// For how long it counted, in seconds; 0 for what has only instants.
    public var seconds: Double
  }

  /// - Parameter covered: by rank, in microseconds.
  init(sum: Double, covered: [Int: Int64], twins: Int, _ ranking: RankTable) {
    (self.sum, self.twins) = (sum, twins)
    sources = covered.sorted { $0.key < $1.key }.map {
      Share(name: ranking.names[$0.key], seconds: Double($0.value) / 1_000_000)
    }
  }
}

/// What samples of a discrete type say, those of all sources together.
public struct DiscreteValues: Hashable, Sendable {
  public var minimum: Double
  public var maximum: Double
  /// As the type asks for it: over time, over samples, or over the energies of sounds; `nil` where no value lasts into the
  /// bucket.
  public var mean: Double?
  /// Arithmetic, whatever the type.
  public var meanOfSamples: Double
  /// Samples that overlap the bucket.
  public var count: Int
  /// Of the sample that ends last.
  public var last: Double
  /// How many of ``count`` are readings of apps.
  public var readings = 0
}
