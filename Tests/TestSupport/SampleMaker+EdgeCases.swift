import HealthModel

extension SampleMaker {
  /// One sample for each way in which a payload, an instant or a text can be odd. NaN is among the values.
  public static var edgeCases: [Sample] {
    var maker = SampleMaker(seed: 1)
    let instants = SampleMaker.extremes
    var samples = payloads.map { payload in maker.wrap(payload) }
    for start in instants {
      for end in instants {
        var sample = maker.wrap(.quantity(Quantity(1, "count")))
        (sample.start, sample.end, sample.created) = (start, end, end)
        samples.append(sample)
      }
    }
    for text in texts {
      var sample = maker.wrap(.unknown(kind: text, content: .string(text)))
      sample.type = SampleType(text)
      sample.source = Source(name: text, bundleIdentifier: text, version: text)
      sample.device = Device(name: text, text: text)
      sample.metadata = [text: .string(text)]
      samples.append(sample)
    }
    var large = maker.wrap(.characteristic(CharacteristicValue(value: String(repeating: "é", count: 500_000))))
    large.metadata = ["large": .string(String(repeating: "\0", count: 100_000))]
    samples.append(large)
    return samples
  }

  private mutating func wrap(_ payload: Payload) -> Sample {
    var sample = steps(at: 0)
    sample.payload = payload
    return sample
  }

  private static let payloads: [Payload] = [
    .quantity(Quantity(.nan, "count")), .quantity(Quantity(.infinity, "")), .quantity(Quantity(-.infinity, "%")),
    .quantity(Quantity(.leastNonzeroMagnitude, "m")), .quantity(Quantity(.greatestFiniteMagnitude, "m")),
    .quantity(Quantity(0.1 + 0.2, "m")), .quantity(Quantity(9.94194e-05, "m")),
    .category(CategoryValue(value: nil)), .category(CategoryValue(value: 0)), .category(CategoryValue(value: .min)),
    .category(CategoryValue(value: .max)), .category(CategoryValue(value: 1 << 53 + 1)),
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
  ]
}
