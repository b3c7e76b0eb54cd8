/// A workout (`HKWorkout`). Its start, end and metadata are the sample's.
public struct Workout: Hashable, Sendable {
  /// Of the whole workout; see ``WorkoutActivity`` for its legs.
  public var activityType: WorkoutActivityType
  /// Seconds, pauses left out; `nil` where the source did not say.
  public var duration: Double?
  /// Totals by Apple's attribute name: `totalDistance`, `totalEnergyBurned`, `totalSwimmingStrokeCount`, ...
  public var totals: [String: Quantity]
  /// One for each quantity type that was measured meanwhile, since iOS 16.
  public var statistics: [WorkoutStatistics]
  /// In the order of the source.
  public var events: [WorkoutEvent]
  /// In the order of the source; empty in exports before iOS 16.
  public var activities: [WorkoutActivity]
  /// Some totals or statistics were left out for a reader who may not see them; see ``SampleCut``.
  public var isPartial: Bool

  /// - Parameter duration: seconds; often less than from the sample's start to its end.
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

/// What one quantity type did during a workout (`HKStatistics`).
public struct WorkoutStatistics: Hashable, Sendable {
  /// The quantity type that was summed up.
  public var type: SampleType
  /// Start of the interval that the statistics are of; `nil` where the source gives none, which means the whole workout.
  public var start: Timestamp?
  /// End of that interval; `nil` as for ``start``.
  public var end: Timestamp?
  /// In ``unit``; `nil` where the source gives none, as for a cumulative type.
  public var average: Double?
  /// In ``unit``; `nil` as for ``average``.
  public var minimum: Double?
  /// In ``unit``; `nil` as for ``average``.
  public var maximum: Double?
  /// In ``unit``; `nil` where the source gives none, as for a discrete type.
  public var sum: Double?
  /// HealthKit's unit string, of all four numbers; `nil` where the source did not say.
  public var unit: String?

  /// Whether the numbers suit the type is not checked.
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
  /// `HKWorkoutEventTypePause`, ...
  public var type: String
  /// When it happened or, with a ``duration``, began.
  public var date: Timestamp
  /// Seconds; `nil` for an event at one instant.
  public var duration: Double?
  /// Such as the stroke style of a lap (`HKSwimmingStrokeStyle`); empty for most.
  public var metadata: Metadata

  /// - Parameter type: Apple's name of it; any text is kept.
  public init(type: String, date: Timestamp, duration: Double? = nil, metadata: Metadata = [:]) {
    self.type = type
    self.date = date
    self.duration = duration
    self.metadata = metadata
  }
}

/// One leg of a multi-sport or interval workout (`HKWorkoutActivity`).
public struct WorkoutActivity: Hashable, Sendable {
  /// HealthKit's UUID of the activity, as it came.
  public var uuid: String
  /// When the leg began.
  public var start: Timestamp
  /// `nil` where the source did not say.
  public var end: Timestamp?
  /// Seconds, pauses left out; `nil` where the source did not say.
  public var duration: Double?
  /// Of this leg, beside the sample's own; empty where there is none.
  public var metadata: Metadata
  /// Of this leg alone.
  public var statistics: [WorkoutStatistics]
  /// Of this leg alone.
  public var events: [WorkoutEvent]

  /// - Parameter uuid: a text, because other programs write other things there.
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
