import HealthModel

extension SeriesKind {
  /// All kinds of a person's record.
  static let all: [SeriesKind] = activity + body + apps

  private static let activity: [SeriesKind] = [
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierHeartRate"), person: .watch, share: 240, gap: 240...420, run: 160
    ) { draw in
      .heartRate(draw.whole(45...110), context: draw.isTrue(0.95) ? draw.isTrue(0.2) ? 2 : 1 : nil)
    },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierHeartRate"), person: .watch, share: 75, gap: 4...6, run: 500
    ) { draw in
      .heartRate(draw.whole(95...185), context: draw.isTrue(0.5) ? 2 : nil)
    },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"), person: .watch, share: 245, gap: 55...65,
      run: 300,
      isContiguous: true, delay: 0...120
    ) { draw in quantity(draw.isLive ? draw.measured(0.05...6) : draw.decimal(0.05...6, places: 3), "kcal") },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierBasalEnergyBurned"), person: .watch, share: 125, gap: 890...970,
      run: 96,
      isContiguous: true, delay: 40...1100
    ) { draw in quantity(draw.isLive ? draw.measured(15...27) : draw.decimal(15...27, places: 3), "kcal") },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierStepCount"), person: .phone, share: 50, gap: 90...900, run: 40,
      length: 20...600,
      delay: 30...1900
    ) { draw in quantity(draw.whole(8...900), "count") },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierStepCount"), person: .watch, share: 45, gap: 60...700, run: 60,
      length: 10...580,
      delay: 0...900
    ) { draw in quantity(draw.whole(3...700), "count") },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning"), person: .phone, share: 50, gap: 90...900,
      run: 40,
      length: 20...600, delay: 30...1900
    ) { draw in quantity(draw.measured(0.004...0.7), "km") },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning"), person: .watch, share: 40, gap: 60...700,
      run: 60,
      length: 10...580, delay: 0...900
    ) { draw in quantity(draw.measured(0.002...0.5), "km") },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierFlightsClimbed"), person: .phone, share: 5, gap: 300...9000, run: 8,
      delay: 50...3000
    ) { draw in quantity(draw.whole(1...6), "count") },
    SeriesKind(
      type: SampleType("HKCategoryTypeIdentifierAppleStandHour"), person: .watch, share: 10, gap: 3600...3600, run: 15,
      isContiguous: true, delay: 0...300, hasFractions: false
    ) { draw in Content(payload: .category(CategoryValue(value: draw.isTrue(0.7) ? 0 : 1))) },
    .workout,
  ]

  private static let body: [SeriesKind] = [
    SeriesKind(
      type: SampleType("HKCategoryTypeIdentifierSleepAnalysis"), person: .watch, share: 40, gap: 300...2700, run: 20,
      isContiguous: true, delay: 20_000...32_000
    ) { draw in
      Content(
        payload: .category(CategoryValue(value: Int64(2 + draw.whole(0...3)))),
        metadata: ["HKTimeZone": "Europe/Berlin"])
    },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierOxygenSaturation"), person: .watch, share: 15, gap: 900...2700, run: 20
    ) { draw in
      quantity(
        draw.decimal(0.91...1, places: 2), "%",
        ["HKMetadataKeyBarometricPressure": .string("\(98_000 + Int.random(in: 0..<4_000, using: &draw.random)) Pa")])
    },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierRespiratoryRate"), person: .watch, share: 15, gap: 300...900, run: 30
    ) { draw in quantity(draw.decimal(11...20, places: 1), "count/min") },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierHeartRateVariabilitySDNN"), person: .watch, share: 5,
      gap: 7200...14_400, run: 6,
      length: 59...66
    ) { draw in quantity(draw.measured(15...120), "ms", ["HKAlgorithmVersion": .integer(2)]) },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierWalkingSpeed"), person: .phone, share: 8, gap: 600...7200, run: 8,
      length: 5...90
    ) { draw in quantity(draw.measured(2.5...6), "km/hr") },
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierEnvironmentalAudioExposure"), person: .watch, share: 8,
      gap: 1800...1800, run: 30,
      isContiguous: true, delay: 5...60
    ) { draw in quantity(draw.measured(35...90), "dBASPL") },
  ]

  private static let apps: [SeriesKind] = [
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierBloodGlucose"), person: .sensor, share: 20, gap: 299...301, run: 2000,
      delay: 4...8, hasFractions: false
    ) { draw in
      quantity(
        draw.whole(65...190), "mg/dL",
        [
          "HKMetadataKeySyncIdentifier": .string(draw.random.uuid().uuidString),
          "HKMetadataKeySyncVersion": .integer(1),
        ])
    },
    .bloodPressure,
    SeriesKind(
      type: SampleType("HKQuantityTypeIdentifierBodyMass"), person: .scale, share: 1, gap: 80_000...92_000, run: 30,
      hasFractions: false
    ) { draw in quantity(draw.decimal(78...83, places: 2), "kg", ["HKWasUserEntered": .bool(false)]) },
  ]
}

extension SeriesKind.Content {
  /// - Parameter context: The `HKHeartRateMotionContext`: 1 at rest, 2 in motion.
  fileprivate static func heartRate(_ value: Double, context: Int64?) -> Self {
    SeriesKind.quantity(
      value, "count/min", context.map { ["HKMetadataKeyHeartRateMotionContext": .integer($0)] } ?? [:])
  }
}
