import HealthModel

/// What a record says of one day at a glance, and how that compares with what is usual.
public struct DaySummary: Sendable {
  /// Days since 1970-01-01.
  public var day: Int
  /// Whether the day is not over, or the record ends in it.
  public var isPartial: Bool
  /// The instant up to which days are known (``RecordEnd/ofDays()``); `nil` of a record without samples.
  public var knownUntil: Timestamp?
  /// `nil` where nothing says any of them.
  public var rings: ActivityRings?
  /// The numbers of the requested types, filled up with other types of the record; see ``DaySummaryQuery/leastTypes``. A type
  /// without a value on the day, a value in its week or a baseline is left out.
  public var types: [TypeSummary]
  /// The sleep of the sleep day with that date.
  public var night: Night?
  /// Of the seconds asleep.
  public var usualSleep: Baseline?
  /// The newest blood pressure up to the end of the day.
  public var bloodPressure: BloodPressure?
  /// Of the week up to the end of the day, those that count.
  public var workouts: [WorkoutSummary]
  /// The newest sample of the record if the summary is empty; otherwise `nil`.
  public var newest: NewestSample?

  /// Whether the day has nothing to say, nor the weeks before it.
  public var isEmpty: Bool {
    rings == nil && types.isEmpty && night == nil && bloodPressure == nil && workouts.isEmpty
  }

  /// The newest of all samples up to the end of a day.
  public struct NewestSample: Hashable, Sendable {
    public var type: SampleType
    public var start: Timestamp
    /// The number of samples in the whole record.
    public var samples: Int
  }

  /// One type on a day.
  public struct TypeSummary: Hashable, Sendable {
    public var type: SampleType
    /// Of all numbers.
    public var unit: String?
    public var aggregation: SampleTypeCatalogue.Aggregation
    /// What the day has; `nil` where there is no sample.
    public var number: BucketStatistics.Number?
    /// Of ``BucketStatistics/Number/representative``.
    public var baseline: Baseline?
    /// The whole days of the week up to the day, and the 28 days before the week.
    public var week: PeriodComparison
    /// Whether the day is over, and not as usual.
    public var isUnusual: Bool
  }
}
