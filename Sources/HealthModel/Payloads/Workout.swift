/// A workout (`HKWorkout`). Its start, end and metadata are the sample's.
public struct Workout: Hashable, Sendable {
  /// The activity of the whole workout; see ``WorkoutActivity`` for its legs.
  public var activityType: WorkoutActivityType
  /// The duration in seconds without pauses, or `nil` if the source does not give it.
  public var duration: Double?
  /// The totals by Apple's attribute name: `totalDistance`, `totalEnergyBurned`, `totalSwimmingStrokeCount`, ...
  public var totals: [String: Quantity]
  /// The statistics of each quantity type measured during the workout, since iOS 16.
  public var statistics: [WorkoutStatistics]
  /// The events in the order of the source.
  public var events: [WorkoutEvent]
  /// The legs in the order of the source, empty in exports before iOS 16.
  public var activities: [WorkoutActivity]
  /// Whether totals or statistics were removed for a reader who may not see them; see ``SampleRedaction``.
  public var isPartial: Bool

  /// Creates a workout.
  ///
  /// - Parameter duration: seconds; often shorter than the sample.
  public init(
    activityType: WorkoutActivityType, duration: Double? = nil, totals: [String: Quantity] = [:],
    statistics: [WorkoutStatistics] = [], events: [WorkoutEvent] = [], activities: [WorkoutActivity] = [],
    isPartial: Bool = false
  ) {
    self.activityType = activityType
    self.duration = duration
    self.totals = totals
    self.statistics = statistics
    self.events = events
    self.activities = activities
    self.isPartial = isPartial
  }
}

/// The statistics of a quantity type during a workout (`HKStatistics`).
public struct WorkoutStatistics: Hashable, Sendable {
  /// The quantity type of the statistics.
  public var type: SampleType
  /// The start of the interval, or `nil` if the source gives none, which means the whole workout.
  public var start: Timestamp?
  /// The end of the interval, or `nil` as for ``start``.
  public var end: Timestamp?
  /// The average in ``unit``, or `nil` if the source gives none, as for a cumulative type.
  public var average: Double?
  /// The minimum in ``unit``, or `nil` as for ``average``.
  public var minimum: Double?
  /// The maximum in ``unit``, or `nil` as for ``average``.
  public var maximum: Double?
  /// The sum in ``unit``, or `nil` if the source gives none, as for a discrete type.
  public var sum: Double?
  /// HealthKit's unit string for all four numbers, or `nil` if the source gives none.
  public var unit: String?

  /// Creates statistics, without checking that the numbers suit the type.
  public init(
    type: SampleType, start: Timestamp? = nil, end: Timestamp? = nil, average: Double? = nil, minimum: Double? = nil,
    maximum: Double? = nil, sum: Double? = nil, unit: String? = nil
  ) {
    self.type = type
    self.start = start
    self.end = end
    self.average = average
    self.minimum = minimum
    self.maximum = maximum
    self.sum = sum
    self.unit = unit
  }
}

/// A pause, lap, segment or marker (`HKWorkoutEvent`).
public struct WorkoutEvent: Hashable, Sendable {
  /// The event type: `HKWorkoutEventTypePause`, ...
  public var type: String
  /// The time of the event, or its start if it has a ``duration``.
  public var date: Timestamp
  /// The duration in seconds, or `nil` for an instantaneous event.
  public var duration: Double?
  /// The event's metadata, such as the stroke style of a lap (`HKSwimmingStrokeStyle`). Empty for most events.
  public var metadata: Metadata

  /// Creates an event.
  ///
  /// - Parameter type: Apple's name of the type; any text is kept.
  public init(type: String, date: Timestamp, duration: Double? = nil, metadata: Metadata = [:]) {
    self.type = type
    self.date = date
    self.duration = duration
    self.metadata = metadata
  }
}

/// A leg of a multi-sport or interval workout (`HKWorkoutActivity`).
public struct WorkoutActivity: Hashable, Sendable {
  /// HealthKit's UUID of the activity, unchanged.
  public var uuid: String
  /// The start of the leg.
  public var start: Timestamp
  /// The end of the leg, or `nil` if the source does not give it.
  public var end: Timestamp?
  /// The duration in seconds without pauses, or `nil` if the source does not give it.
  public var duration: Double?
  /// The metadata of this leg, in addition to the sample's metadata.
  public var metadata: Metadata
  /// The statistics of this leg alone.
  public var statistics: [WorkoutStatistics]
  /// The events of this leg alone.
  public var events: [WorkoutEvent]

  /// Creates a leg.
  ///
  /// - Parameter uuid: a text, because other programs do not always write a UUID.
  public init(
    uuid: String, start: Timestamp, end: Timestamp? = nil, duration: Double? = nil, metadata: Metadata = [:],
    statistics: [WorkoutStatistics] = [], events: [WorkoutEvent] = []
  ) {
    self.uuid = uuid
    self.start = start
    self.end = end
    self.duration = duration
    self.metadata = metadata
    self.statistics = statistics
    self.events = events
  }
}
