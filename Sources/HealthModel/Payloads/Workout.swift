/// A workout (`HKWorkout`). Its start, end and metadata are the sample's.
public struct Workout: Hashable, Sendable {
  public var activityType: WorkoutActivityType
  /// Seconds, pauses left out; `nil` where the source did not say.
  public var duration: Double?
  /// Totals by Apple's attribute name: `totalDistance`, `totalEnergyBurned`, `totalSwimmingStrokeCount`, ...
  public var totals: [String: Quantity]
  public var statistics: [WorkoutStatistics]
  public var events: [WorkoutEvent]
  public var activities: [WorkoutActivity]
  /// Some totals or statistics were left out for a reader who may not see them; see ``SampleCut``.
  public var isPartial: Bool

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
  public var type: SampleType
  public var start: Timestamp?
  public var end: Timestamp?
  public var average: Double?
  public var minimum: Double?
  public var maximum: Double?
  public var sum: Double?
  public var unit: String?

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
  public var date: Timestamp
  /// Seconds.
  public var duration: Double?
  public var metadata: Metadata

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
  public var start: Timestamp
  public var end: Timestamp?
  /// Seconds.
  public var duration: Double?
  public var metadata: Metadata
  public var statistics: [WorkoutStatistics]
  public var events: [WorkoutEvent]

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
