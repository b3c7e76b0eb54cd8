import HealthModel

extension SampleMaker {
  static let edgePayloads: [Payload] = [
    .quantity(Quantity(.nan, "count")), .quantity(Quantity(.infinity, "")), .quantity(Quantity(-.infinity, "%")),
    .quantity(Quantity(.leastNonzeroMagnitude, "m")), .quantity(Quantity(.greatestFiniteMagnitude, "m")),
    .quantity(Quantity(0.1 + 0.2, "m")), .quantity(Quantity(9.94194e-05, "m")),
    .category(CategoryValue(value: nil)), .category(CategoryValue(value: 0)), .category(CategoryValue(value: .min)),
    .category(CategoryValue(value: .max)),
    .category(CategoryValue(value: nil, name: "")),
    .category(CategoryValue(value: 3, name: "HKCategoryValueOfTomorrow")),
    .correlation(Correlation(members: [])),
    .correlation(
      Correlation(members: [
        SampleReference(type: SampleType(""), start: Timestamp(microseconds: .min), uuid: SampleIdentity.namespace),
        SampleReference(type: stepCount, start: Timestamp(microseconds: 1), uuid: SampleIdentity.namespace),
      ])),
    .workout(Workout(activityType: .value(.max))),
    .workout(
      Workout(
        activityType: .name("37"), duration: .nan, totals: ["": Quantity(.nan, "")],
        statistics: [WorkoutStatistics(type: stepCount, average: .nan, minimum: -.infinity, maximum: .infinity)],
        events: [
          WorkoutEvent(type: "", date: Timestamp(microseconds: .max), duration: -1, metadata: ["n": .number(.nan)])
        ],
        activities: [WorkoutActivity(uuid: "", start: Timestamp(microseconds: .min), metadata: ["d": .number(1)])])),
    .activitySummary(ActivitySummary(date: "", attributes: [:])),
    .activitySummary(ActivitySummary(date: "2024-02-30", attributes: ["": "", "😴": "NaN"])),
    .characteristic(CharacteristicValue(value: "")),
    .unknown(kind: "stateOfMind", content: .null), .unknown(kind: "a", content: .object([:])),
    .unknown(kind: "a", content: .array([.array([]), .integer(.min), .number(0.5), .bool(false), .string("")])),
    // Told from the kinds that are known by what follows a NUL.
    .unknown(kind: "quantity\0", content: .string("x")), .unknown(kind: "workout\0", content: .null),
    .unknown(
      kind: "nested",
      content: .object([
        "": .null, "\0": .array([.object(["😴": .string("Rene\u{301}")]), .bool(true)]), "big": .integer(.max),
        "small": .number(.leastNonzeroMagnitude), "negative": .number(-1.5), "deep": deep(20),
      ])),
    .workoutRoute(WorkoutRoute()), .workoutRoute(WorkoutRoute(path: "\"\\/\n😴\0Rene\u{301}")),
    .workoutRoute(
      WorkoutRoute(
        workout: SampleReference(
          type: SampleType("\""), start: Timestamp(microseconds: .min), uuid: SampleIdentity.namespace),
        points: [
          RoutePoint(time: -0.5, latitude: 1e-7, longitude: -180, elevation: .nan, speed: -1, course: .infinity),
          RoutePoint(latitude: .leastNonzeroMagnitude, longitude: 0.1 + 0.2, verticalAccuracy: 1e22),
        ])),
    .electrocardiogram(Electrocardiogram()),
    .electrocardiogram(Electrocardiogram(classification: "", lead: "\"", voltages: [.nan, -.infinity, 1e300])),
    .audiogram(Audiogram(points: [])),
    .visionPrescription(VisionPrescription()),
    .visionPrescription(VisionPrescription(right: [:], left: ["": Quantity(.nan, "")])),
    .clinicalRecord(ClinicalRecord(identifier: "")),
    .clinicalRecord(ClinicalRecord(identifier: "\0", resource: .array([.integer(.min), .string("")]))),
    // What versions before these kinds wrote, and what later ones may add.
    .unknown(kind: "audiogram", content: .object(["attributes": .object([:])])),
    .unknown(kind: "visionPrescription", content: .object(["attributes": .object(["brand": .string("B")])])),
    .unknown(kind: "clinicalRecord", content: .object(["identifier": .string("1"), "signature": .string("x")])),
    .unknown(kind: "workoutRoute", content: .object(["latitude": .array([.integer(1)]), "longitude": .array([])])),
    .unknown(kind: "electrocardiogram", content: .null),
    // JSON has no integers and no reals, only numbers; what a quantity loses, these keep.
    .workout(Workout(activityType: .value(0), duration: -0.0, totals: ["zero": Quantity(-0.0, "m")])),
  ]

  /// Quantity values that can't all be represented as a double, a decimal fraction and an integer. -0 is missing,
  /// because SQLite stores it as 0.
  static let edgeNumbers: [Double] = [
    0, 1, -1, 72.5, 0.1, 0.1 + 0.2, 1.0 / 3, 99.999_999_999_999_99, 123_456_789.123_456, 1e-15, 1.5e-15, 1e-16, -1e-7,
    1e15, 1e16, 1e17, 1e22, 1e23, 1e300, 4_503_599_627_370_495.5, 9_007_199_254_740_991, 9_007_199_254_740_992,
    9_007_199_254_740_994, -9_007_199_254_740_992, 9_223_372_036_854_774_784, 0x1p63, -0x1p63, 0x1p64,
    922_337_203_685_477.580_7, .ulpOfOne, .leastNormalMagnitude, .leastNormalMagnitude.nextDown, .leastNonzeroMagnitude,
    -.leastNonzeroMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .infinity, -.infinity, .nan,
    -.nan, .signalingNaN,
  ]

  /// Category values around the largest integer that a double represents exactly.
  static let edgeIntegers: [Int64] = [
    .min, .min + 1, -(1 << 53) - 1, -(1 << 53), -1, 0, 1, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, .max - 1, .max,
  ]

  private static func deep(_ depth: Int) -> JSONValue {
    depth == 0 ? .array([]) : .array([.object(["d": deep(depth - 1)])])
  }
}
