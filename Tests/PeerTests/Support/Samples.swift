import Foundation
import HealthModel
import HealthStore

/// Samples for tests, each with a new UUID.
enum Samples {
  static let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
  static let stepCount = SampleType("HKQuantityTypeIdentifierStepCount")
  static let walking = SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning")
  static let sleep = SampleType("HKCategoryTypeIdentifierSleepAnalysis")
  static let bloodPressure = SampleType("HKCorrelationTypeIdentifierBloodPressure")
  static let systolic = SampleType("HKQuantityTypeIdentifierBloodPressureSystolic")
  static let diastolic = SampleType("HKQuantityTypeIdentifierBloodPressureDiastolic")
  static let unheardOf = SampleType("HKQuantityTypeIdentifierUnheardOf")
  /// The start of most samples: 2024-06-15T10:30:00Z.
  static let noon: Int64 = 1_718_447_400

  static func quantity(
    _ type: SampleType = heartRate, _ value: Double = 72, _ unit: String = "count/min", at seconds: Int64 = noon,
    metadata: Metadata = [:]
  ) -> Sample {
    sample(type, at: seconds, metadata: metadata, .quantity(Quantity(value, unit)))
  }

  static func sample(
    _ type: SampleType, at seconds: Int64 = noon, lasting duration: Int64 = 60, metadata: Metadata = [:],
    _ payload: Payload
  ) -> Sample {
    Sample(
      uuid: UUID(), type: type, start: Timestamp(seconds: seconds), end: Timestamp(seconds: seconds + duration),
      source: Source(name: "Casey\u{2019}s Apple\u{a0}Watch", bundleIdentifier: "com.apple.health.E1"),
      metadata: metadata, payload: payload)
  }

  /// Returns `count` heart rates at intervals of a minute, oldest first. Each value is the sample's index.
  static func heartRates(_ count: Int) -> [Sample] {
    (0..<count).map { quantity(heartRate, Double($0), at: noon + Int64($0) * 60) }
  }

  /// Returns heart rates of a kilobyte each in transit. 9,000 of them exceed what the kernel buffers for a client
  /// that doesn't read.
  static func bulky(_ count: Int) -> [Sample] {
    let filler = String(repeating: "x", count: 1_000)
    return heartRates(count).map { sample in
      var sample = sample
      sample.metadata = ["filler": .string(filler)]
      return sample
    }
  }

  /// A tombstone of a sample that doesn't exist.
  static var tombstone: Tombstone { Tombstone(sample: quantity().reference, deleted: Timestamp(seconds: noon)) }

  /// A sample of each kind of payload, and of kinds that other versions may send.
  static var everyKind: [Sample] {
    let upper = quantity(systolic, 120, "mmHg")
    let lower = quantity(diastolic, 80.5, "mmHg")
    var measured = quantity(
      heartRate, 61.25,
      metadata: [
        "HKTimeZone": "Europe/Berlin", "count": .integer(3), "fraction": .number(1.5), "flag": .bool(true),
        "when": .date(Timestamp(microseconds: noon * 1_000_000 + 123_456)),
      ])
    measured.device = Device(name: "Apple Watch", manufacturer: "Apple Inc.", model: "Watch")
    measured.created = Timestamp(microseconds: noon * 1_000_000 + 500_001)
    let workout = Workout(
      activityType: .value(37), duration: 1800.25,
      totals: ["totalDistance": Quantity(5, "km"), "totalEnergyBurned": Quantity(350.5, "kcal")],
      statistics: [WorkoutStatistics(type: heartRate, average: 150, minimum: 90, maximum: 180, unit: "count/min")],
      events: [WorkoutEvent(type: "HKWorkoutEventTypePause", date: Timestamp(seconds: noon + 5), duration: 2)],
      activities: [WorkoutActivity(uuid: "A", start: Timestamp(seconds: noon))])
    return [
      measured, quantity(stepCount, 1000, "count"), quantity(stepCount, .nan, "count"), upper, lower,
      sample(bloodPressure, .correlation(Correlation(members: [upper.reference, lower.reference]))),
      sample(sleep, .category(CategoryValue(value: 3))),
      sample(sleep, .category(CategoryValue(value: nil, name: "HKCategoryValueSleepAnalysisFuture"))),
      sample(.workout, .workout(workout)),
      sample(
        .activitySummary,
        .activitySummary(ActivitySummary(date: "2024-06-15", attributes: ["activeEnergyBurned": "300"]))),
      sample(
        SampleType("HKCharacteristicTypeIdentifierBiologicalSex"),
        .characteristic(CharacteristicValue(value: "HKBiologicalSexFemale"))),
      quantity(unheardOf, 1, "count"),
      sample(SampleType("HKDataTypeFuture"), .unknown(kind: "future", content: .object(["a": .array([.null])]))),
    ]
  }
}

extension HealthStore {
  /// Returns everything that the store holds as sorted text, in which NaN equals itself.
  func content() async throws -> [String] {
    var texts: [String] = []
    for count in try await samples.typeCounts() {
      for sample in try await samples.page(of: count.type, limit: count.samples) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        texts.append(String(decoding: try encoder.encode(sample), as: UTF8.self))
      }
    }
    return texts.sorted()
  }

  /// Returns the number of samples in the store.
  func total() async throws -> Int {
    try await samples.typeCounts().reduce(0) { $0 + $1.samples }
  }
}

/// Runs `body` with a new store in a temporary directory, as the pulling side.
@discardableResult
func withStore<Result>(_ body: (HealthStore) async throws -> Result) async throws -> Result {
  try await withTemporaryDirectory { directory in
    try await body(try HealthStore(directory: directory.path))
  }
}

extension Samples {
  /// Returns the same sample as an export contains it: with a derived UUID.
  static func asExported(_ sample: Sample) -> Sample {
    var exported = sample
    exported.uuid = SampleIdentity.uuid(
      kind: "record", type: sample.type, source: sample.source.name, start: sample.start, end: sample.end,
      created: sample.created, ordinal: 0)
    return exported
  }
}
