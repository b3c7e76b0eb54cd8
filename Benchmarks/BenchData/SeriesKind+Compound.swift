import HealthModel

/// The kinds whose samples have more than one number.
extension SeriesKind {
  static let bloodPressure = SeriesKind(
    type: SampleType("HKCorrelationTypeIdentifierBloodPressure"), person: .cuff, share: 1, gap: 36_000...50_000,
    run: 60,
    delay: 1...30, hasFractions: false
  ) { draw in
    let members = [("Systolic", draw.whole(105...150)), ("Diastolic", draw.whole(62...95))].map { name, value in
      (SampleType("HKQuantityTypeIdentifierBloodPressure\(name)"), Quantity(value, "mmHg"))
    }
    return Content(
      payload: .correlation(Correlation(members: [])), metadata: ["HKWasUserEntered": .bool(true)], members: members)
  }

  static let workout = SeriesKind(
    type: .workout, person: .watch, share: 1, gap: 70_000...200_000, run: 30, length: 900...7200, delay: 1...20
  ) { draw in
    let distance = draw.measured(2...15)
    let energy = draw.measured(100...900)
    let rate = draw.measured(110...160)
    let workout = Workout(
      activityType: .value([13, 37, 52][Int.random(in: 0..<3, using: &draw.random)]), duration: draw.length * 0.97,
      totals: ["totalDistance": Quantity(distance, "km"), "totalEnergyBurned": Quantity(energy, "kcal")],
      statistics: [
        WorkoutStatistics(
          type: SampleType("HKQuantityTypeIdentifierHeartRate"), average: rate, minimum: (rate - 40).rounded(),
          maximum: (rate + 30).rounded(), unit: "count/min"),
        WorkoutStatistics(
          type: SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"), sum: energy, unit: "kcal"),
        WorkoutStatistics(
          type: SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning"), sum: distance, unit: "km"),
      ])
    return Content(
      payload: .workout(workout),
      metadata: [
        "HKIndoorWorkout": .bool(draw.isTrue(0.2)), "HKTimeZone": "Europe/Berlin",
        "HKAverageMETs": .string("\(draw.measured(4...12)) kcal/hr·kg"),
        "HKElevationAscended": .string("\(Int(draw.whole(1000...30_000))) cm"),
      ])
  }
}
