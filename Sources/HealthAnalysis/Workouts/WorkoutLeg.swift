import HealthModel
import HealthStore

/// A leg of a workout: an activity of a triathlon, an interval session or a custom workout (`HKWorkoutActivity`).
public struct WorkoutLeg: Hashable, Sendable {
  /// The activity of the leg; in a triathlon, inferred from the type of its distance.
  public var activity: WorkoutActivityType
  public var start: Timestamp
  /// The end of the leg or, if it has none, the start of the next leg or the end of the workout.
  public var end: Timestamp
  /// The duration in seconds without pauses, or `nil` if the stated one is impossible.
  public var duration: Double?
  /// The distance in metres, or `nil` if unknown.
  public var distance: Double?
  /// The active energy in kilocalories, or `nil` if unknown.
  public var energy: Double?
  /// The heart rate, or `nil` if unknown.
  public var heartRate: WorkoutHeartRate?
  /// The power in watts, or `nil` if unknown.
  public var power: Double?
  /// The seconds from its end to the start of the next leg, or `nil` for the last leg and for adjacent legs.
  public var rest: Double?

  /// The maximum number of legs, more than any real workout has. Each leg is processed together with all events.
  private static let mostLegs = 200
  private static let several = WorkoutActivityType(exported: "HKWorkoutActivityTypeSwimBikeRun")
  private static let powers = ["HKQuantityTypeIdentifierCyclingPower", "HKQuantityTypeIdentifierRunningPower"]

  /// Returns the legs in order of their starts as the workout states them. Since iOS 16, every workout has at least
  /// one leg, which may cover all of it.
  static func legs(of summary: WorkoutSummary) -> [WorkoutLeg] {
    let workout = summary.workout
    let activities = workout.activities.sorted { $0.start < $1.start }.prefix(mostLegs)
    return activities.indices.map { index in
      let activity = activities[index]
      let next = index + 1 < activities.count ? activities[index + 1].start : nil
      let end = max(activity.start, activity.end ?? next ?? summary.sample.end)
      let kind = kind(of: activity, in: workout)
      var leg = WorkoutLeg(activity: kind, start: activity.start, end: end)
      let elapsed = seconds(from: leg.start, to: end)
      let said =
        activity.duration
        ?? ActiveIntervals(
          activity.events + workout.events, from: leg.start.microseconds, to: end.microseconds
        ).seconds
      leg.duration = said >= 0 && said <= elapsed + 60 ? said : nil
      leg.distance = WorkoutSummary.distance(activity.statistics, by: kind)
      leg.energy = WorkoutSummary.energy(activity.statistics)
      leg.heartRate = WorkoutHeartRate(activity.statistics)
      leg.power = activity.statistics.first { powers.contains($0.type.rawValue) && $0.unit == "W" }?.average
      if let next, next > end { leg.rest = seconds(from: end, to: next) }
      return leg
    }
  }

  private init(activity: WorkoutActivityType, start: Timestamp, end: Timestamp) {
    (self.activity, self.start, self.end) = (activity, start, end)
  }

  private static func seconds(from start: Timestamp, to end: Timestamp) -> Double {
    (Double(end.microseconds) - Double(start.microseconds)) / 1_000_000
  }

  /// Returns the activity of a leg. Apple's export does not state the activity of a triathlon leg, so it is inferred
  /// from the type of its distance.
  private static func kind(of activity: WorkoutActivity, in workout: Workout) -> WorkoutActivityType {
    guard workout.activityType == several else { return workout.activityType }
    for (distance, name) in [
      ("Swimming", "Swimming"), ("Cycling", "Cycling"), ("WalkingRunning", "Running"),
    ] {
      let type = SampleType("HKQuantityTypeIdentifierDistance" + distance)
      if activity.statistics.contains(where: { $0.type == type }) {
        return WorkoutActivityType(exported: "HKWorkoutActivityType" + name)
      }
    }
    return .transition
  }

  /// Returns the legs with missing values filled in from samples.
  ///
  /// - Parameter rates: the heart rates of the workout, in order of their starts.
  static func filled(
    _ legs: [WorkoutLeg], of summary: WorkoutSummary, _ rates: [ActiveIntervals.Reading], _ reader: NumberReader,
    _ facts: KeptFacts
  ) throws -> [WorkoutLeg] {
    var legs = legs
    for index in legs.indices {
      let (leg, events) = (legs[index], summary.workout.events)
      guard leg.start < leg.end, CalendarBuckets.years.contains(leg.start), CalendarBuckets.years.contains(leg.end)
      else { continue }
      let active = ActiveIntervals(events, from: leg.start.microseconds, to: leg.end.microseconds)
      legs[index].heartRate = leg.heartRate ?? WorkoutHeartRate(rates, during: active)
      let questions = active.intervals.map { WorkoutSums.Question(time: $0, source: summary.sample.source) }
      func sum(_ type: SampleType, _ unit: String) throws -> Double? {
        try WorkoutSums.sums(of: type, in: unit, over: questions, reader, facts).compactMap(\.self).total
      }
      if leg.distance == nil, let type = WorkoutSums.distance(of: leg.activity) {
        legs[index].distance = try sum(type, "m")
      }
      if leg.energy == nil { legs[index].energy = try sum(WorkoutSums.activeEnergy, "kcal") }
    }
    return legs
  }
}

extension WorkoutActivityType {
  /// The activity between two legs of a triathlon.
  static let transition = WorkoutActivityType(exported: "HKWorkoutActivityTypeTransition")
}

extension [Double] {
  /// The sum, or `nil` for an empty array.
  var total: Double? { isEmpty ? nil : reduce(0, +) }
}
