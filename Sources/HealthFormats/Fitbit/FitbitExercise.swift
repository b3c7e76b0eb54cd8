import HealthModel

/// An exercise log, converted to a workout.
struct FitbitExercise {
  let log: Int64
  let sample: Sample

  private static let milliseconds = 1...Double(30 * 86_400_000)

  init?(_ log: [String: JSONValue]) {
    guard case .integer(let number)? = log["logId"], case .string(let text)? = log["startTime"],
      let start = FitbitTime.stamp(text), let elapsed = FitbitNumber.of(log["duration"], in: Self.milliseconds)
    else { return nil }
    self.log = number
    let end = Timestamp(microseconds: start.microseconds + Int64(elapsed) * 1000)
    var (name, metadata): (String, Metadata) = ("", [:])
    if case .string(let text)? = log["activityName"], text.utf8.count <= 1000 {
      name = text
      metadata["fitbit.activityName"] = .string(text)
    }
    if case .string("manual")? = log["logType"] { metadata["HKWasUserEntered"] = "1" }
    var workout = Workout(activityType: Self.type(name))
    // The active duration excludes pauses.
    workout.duration = (FitbitNumber.of(log["activeDuration"], in: Self.milliseconds) ?? elapsed) / 1000
    if let energy = FitbitNumber.of(log["calories"], in: 0...1_000_000) {
      workout.totals["totalEnergyBurned"] = Quantity(energy, "kcal")
    }
    if let distance = FitbitNumber.of(log["distance"], in: 0...100_000), case .string(let unit)? = log["distanceUnit"],
      let known = ["Kilometer": "km", "Mile": "mi"][unit]
    {
      workout.totals["totalDistance"] = Quantity(distance, known)
    }
    if let steps = FitbitNumber.of(log["steps"], in: 0...10_000_000) {
      workout.statistics.append(WorkoutStatistics(type: .quantity("StepCount"), sum: steps, unit: "count"))
    }
    if let rate = FitbitNumber.of(log["averageHeartRate"], in: 1...500) {
      workout.statistics.append(WorkoutStatistics(type: .quantity("HeartRate"), average: rate, unit: "count/min"))
    }
    if let climb = FitbitNumber.of(log["elevationGain"], in: 0.001...100_000) {
      metadata["fitbit.elevationGain"] = .number(climb)
    }
    // Only the log number identifies the exercise: a later export may state another duration.
    sample = Sample(
      uuid: SampleIdentity.uuid(
        kind: "fitbit", type: .workout, source: "\(FitbitReader.source.name) \(number)", start: start, end: start,
        created: nil, ordinal: 0),
      type: .workout, start: start, end: end, source: FitbitReader.source, metadata: metadata,
      payload: .workout(workout))
  }

  /// Returns HealthKit's activity type for a Fitbit activity name. Names that people chose themselves become `Other`.
  private static func type(_ name: String) -> WorkoutActivityType {
    .init(exported: "HKWorkoutActivityType" + (types[name] ?? "Other"))
  }

  private static let types = [
    "Walk": "Walking", "Walking": "Walking", "Treadmill": "Running", "Run": "Running", "Running": "Running",
    "Hike": "Hiking", "Hiking": "Hiking", "Bike": "Cycling", "Biking": "Cycling", "Outdoor Bike": "Cycling",
    "Mountain Biking": "Cycling", "Spinning": "Cycling", "Stationary bike": "Cycling", "Swim": "Swimming",
    "Swimming": "Swimming", "Elliptical": "Elliptical", "Yoga": "Yoga", "Pilates": "Pilates",
    "Weights": "TraditionalStrengthTraining", "Strength training": "TraditionalStrengthTraining",
    "Weightlifting": "TraditionalStrengthTraining", "Interval Workout": "HighIntensityIntervalTraining",
    "HIIT": "HighIntensityIntervalTraining", "Circuit Training": "MixedCardio", "Tennis": "Tennis", "Golf": "Golf",
    "Rowing machine": "Rowing", "Rowing": "Rowing", "Stairclimber": "StairClimbing",
    "Martial Arts": "MartialArts", "Kickboxing": "Kickboxing", "Boxing": "Boxing", "Soccer": "Soccer",
    "Basketball": "Basketball", "Volleyball": "Volleyball", "Badminton": "Badminton", "Skiing": "DownhillSkiing",
    "Snowboarding": "Snowboarding", "Dancing": "CardioDance", "Rock Climbing": "Climbing",
    "Core training": "CoreTraining",
    "Stretching": "Flexibility", "Meditating": "MindAndBody", "CrossFit": "CrossTraining",
  ]
}
