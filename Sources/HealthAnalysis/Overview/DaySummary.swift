import HealthModel

/// A summary of a day in a record, compared with the usual values.
public struct DaySummary: Sendable {
  /// The day, in days since 1970-01-01.
  public var day: Int
  /// Whether the day is not over, or the record ends during it.
  public var isPartial: Bool
  /// The instant up to which days are known (``RecordEnd/ofDays()``), or `nil` for a record without samples.
  public var knownUntil: Timestamp?
  /// The activity rings, or `nil` if there are none.
  public var rings: ActivityRings?
  /// The numbers of the requested types, filled up with other types of the record; see ``DaySummaryQuery/leastTypes``. A type
  /// without a value on the day, a value in its week or a baseline is left out.
  public var types: [TypeSummary]
  /// The sleep of the sleep day with that date.
  public var night: Night?
  /// The baseline of the seconds asleep.
  public var usualSleep: Baseline?
  /// The newest blood pressure up to the end of the day.
  public var bloodPressure: BloodPressure?
  /// The counted workouts of the week up to the end of the day.
  public var workouts: [WorkoutSummary]
  /// The newest sample of the record if the summary is empty; otherwise `nil`.
  public var newest: NewestSample?

  /// Whether neither the day nor the weeks before it have any content.
  public var isEmpty: Bool {
    rings == nil && types.isEmpty && night == nil && bloodPressure == nil && workouts.isEmpty
  }

  /// The newest sample of a record up to the end of a day.
  public struct NewestSample: Hashable, Sendable {
    public var type: SampleType
    public var start: Timestamp
    /// The number of samples in the whole record.
    public var samples: Int
  }

  /// The value of a type on a day, compared with other days.
  public struct TypeSummary: Hashable, Sendable {
    public var type: SampleType
    /// The unit of all values.
    public var unit: String?
    public var aggregation: SampleTypeCatalogue.Aggregation
    /// The day's value, or `nil` if it has no samples.
    public var number: BucketStatistics.Number?
    /// The baseline of ``BucketStatistics/Number/representative``.
    public var baseline: Baseline?
    /// The comparison of the complete days of the week up to the day with the 28 days before the week.
    public var week: PeriodComparison
    /// Whether the day is over and its value is unusual.
    public var isUnusual: Bool
  }
}
