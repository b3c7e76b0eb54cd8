import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

@Suite struct HealthAutoExportWriterTests {
  private static let start = Timestamp(seconds: 1_718_440_200)

  private func sample(
    _ type: String, _ payload: Payload, seconds: Int64 = 0, metadata: Metadata = [:], uuid: UUID = UUID()
  ) -> Sample {
    Sample(
      uuid: uuid, type: SampleType(type), start: Self.start, end: Timestamp(seconds: Self.start.seconds + seconds),
      source: Source(name: "Robin’s \"Watch\""), metadata: metadata, payload: payload)
  }

  private func quantity(
    _ name: String, _ value: Double, _ unit: String, seconds: Int64 = 0, metadata: Metadata = [:]
  ) -> Sample {
    sample("HKQuantityTypeIdentifier" + name, .quantity(Quantity(value, unit)), seconds: seconds, metadata: metadata)
  }

  private func category(_ name: String, _ value: Int64, seconds: Int64, metadata: Metadata = [:]) -> Sample {
    sample(
      "HKCategoryTypeIdentifier" + name, .category(CategoryValue(value: value)), seconds: seconds, metadata: metadata)
  }

  private func file(_ samples: [(Sample, [Sample])], routes: [Sample] = []) -> (bytes: [UInt8], left: [Sample]) {
    var writer = HealthAutoExportWriter(offset: 7200)
    var bytes: [UInt8] = []
    var left: [Sample] = []
    writer.begin(into: &bytes)
    for (sample, members) in samples {
      if case .workout = sample.payload, !routes.isEmpty, writer.beginWorkout(sample, to: &bytes) {
        for route in routes where !writer.append(route: route, to: &bytes) { left.append(route) }
        writer.endWorkout(to: &bytes)
      } else if !writer.append(sample, members: members, to: &bytes) {
        left.append(sample)
      }
    }
    writer.end(into: &bytes)
    return (bytes, left)
  }

  private func read(_ bytes: [UInt8]) throws -> [Sample] {
    let reading = try SampleReading(autoExport: String(decoding: bytes, as: UTF8.self))
    #expect(reading.report.isComplete)
    #expect(reading.report.skipped.isEmpty)
    return reading.samples + reading.readings
  }

  @Test func aPointSaysWhenItBeganAndEnded() {
    let (bytes, left) = file([
      (quantity("StepCount", 120, "count", seconds: 60), []), (quantity("StepCount", 1.5, "count"), []),
      (quantity("OxygenSaturation", 0.07, "%"), []),
    ])
    #expect(left.isEmpty)
    #expect(
      String(decoding: bytes, as: UTF8.self) == #"""
        {"data":{"metrics":[
        {"name":"step_count","units":"count","data":[
        {"date":"2024-06-15 10:30:00 +0200","startDate":"2024-06-15 10:30:00 +0200","endDate":"2024-06-15 10:31:00 +0200","qty":120,"source":"Robin’s \"Watch\""},
        {"date":"2024-06-15 10:30:00 +0200","startDate":"2024-06-15 10:30:00 +0200","endDate":"2024-06-15 10:30:00 +0200","qty":1.5,"source":"Robin’s \"Watch\""}
        ]},
        {"name":"blood_oxygen_saturation","units":"%","data":[
        {"date":"2024-06-15 10:30:00 +0200","startDate":"2024-06-15 10:30:00 +0200","endDate":"2024-06-15 10:30:00 +0200","qty":7,"source":"Robin’s \"Watch\""}
        ]}
        ]}}

        """#)
  }

  @Test func nothingIsAnEmptyFile() throws {
    let bytes = file([]).bytes
    #expect(String(decoding: bytes, as: UTF8.self) == "{\"data\":{}}\n")
    #expect(try read(bytes).isEmpty)
  }

  /// Each file is read by hpeer's own reader, which must not take it for an aggregate.
  @Test func whatIsWrittenIsReadBack() throws {
    let members = [("Systolic", 120.0), ("Diastolic", 80)].map { quantity("BloodPressure" + $0, $1, "mmHg") }
    let pressure = sample(
      "HKCorrelationTypeIdentifierBloodPressure", .correlation(Correlation(members: members.map(\.reference))))
    let samples: [(Sample, [Sample])] = [
      (category("AppleStandHour", 0, seconds: 3600), []), (category("MindfulSession", 0, seconds: 90), []),
      (category("SexualActivity", 0, seconds: 0, metadata: ["HKSexualActivityProtectionUsed": "1"]), []),
      (category("SleepAnalysis", 3, seconds: 1800), []), (category("SleepAnalysis", 2, seconds: 360), []),
      (pressure, members),
      (
        quantity(
          "BloodGlucose", 5, "mmol<180.1558800000541>/L", metadata: ["HKBloodGlucoseMealTime": .integer(2)]),
        []
      ),
      (quantity("BodyMass", 176.36980974790206, "lb"), []), (quantity("HeartRate", 61, "count/min"), []),
    ]
    let (bytes, left) = file(samples)
    #expect(left.isEmpty)
    let read = try read(bytes)
    #expect(read.count == samples.count)
    #expect(read.allSatisfy { $0.start == Self.start && $0.source.name == "Robin’s \"Watch\"" })
    #expect(read.allSatisfy { $0.metadata["hpeer.aggregation"] == nil })
    func only(_ type: String) throws -> Sample { try #require(read.first { $0.type.rawValue == type }) }
    #expect(try only("hae.apple_stand_hour").payload == .quantity(Quantity(1, "count")))
    #expect(try only("hae.mindful_minutes").payload == .quantity(Quantity(1.5, "min")))
    let sleep = read.filter { $0.type.rawValue == "hae.sleep_analysis" }
    #expect(sleep.map(\.payload) == [.quantity(Quantity(0.5, "hr")), .quantity(Quantity(0.1, "hr"))])
    #expect(sleep.map { $0.metadata["hae.value"] } == ["Core", "Awake"])
    #expect(sleep.map { $0.end.seconds - $0.start.seconds } == [1800, 360])
    #expect(
      try only("hae.blood_pressure").payload
        == .unknown(
          kind: "healthAutoExport",
          content: .object([
            "systolic": .integer(120), "diastolic": .integer(80), "units": .string("mmHg"),
          ])))
    #expect(try only("hae.blood_glucose").metadata["hae.mealTime"] == "After Meal")
    #expect(try only("hae.weight_body_mass").payload == .quantity(Quantity(80, "kg")))
    #expect(
      try only("hae.heart_rate").payload
        == .unknown(
          kind: "healthAutoExport",
          content: .object([
            "Min": .integer(61), "Avg": .integer(61), "Max": .integer(61), "units": .string("count/min"),
          ])))
    #expect(
      try only("hae.sexual_activity").payload
        == .unknown(
          kind: "healthAutoExport",
          content: .object([
            "Unspecified": .integer(0), "Protection Used": .integer(1), "Protection Not Used": .integer(0),
            "units": .string("count"),
          ])))
  }

  @Test func aWorkoutIsReadBackUnderItsUUID() throws {
    let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var workout = Workout(activityType: .value(37), duration: 1710)
    workout.totals = ["totalEnergyBurned": Quantity(250.5, "Cal"), "totalFlightsClimbed": Quantity(3, "count")]
    workout.statistics = [
      WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning"), sum: 5000, unit: "m"),
      WorkoutStatistics(
        type: SampleType("HKQuantityTypeIdentifierHeartRate"), average: 120, minimum: 80, maximum: 160,
        unit: "count/min"),
    ]
    let written = sample(
      "HKWorkoutTypeIdentifier", .workout(workout), seconds: 1800, metadata: ["HKIndoorWorkout": "1"], uuid: uuid)
    let points = [
      RoutePoint(time: 1, latitude: 52.5, longitude: 13.25, elevation: 30, speed: 2.5),
      RoutePoint(latitude: 52.6, longitude: 13.3, elevation: .nan),
    ]
    let route = sample(
      "HKWorkoutRouteTypeIdentifier", .workoutRoute(WorkoutRoute(workout: written.reference, points: points)))
    let (bytes, left) = file([(quantity("StepCount", 1, "count"), []), (written, [])], routes: [route])
    #expect(left.isEmpty)
    let read = try read(bytes)
    let back = try #require(read.first { $0.uuid == uuid })
    #expect((back.start, back.end) == (written.start, written.end))
    guard case .workout(let content) = back.payload else { throw Failure() }
    #expect(content.activityType == .value(37))
    #expect(content.duration == 1710)
    #expect(
      content.totals == [
        "totalEnergyBurned": Quantity(250.5, "kcal"), "totalDistance": Quantity(5, "km"),
        "totalFlightsClimbed": Quantity(3, "count"),
      ])
    #expect(content.statistics.map(\.average) == [120])
    #expect(content.statistics.map(\.minimum) == [80])
    #expect(content.statistics.map(\.maximum) == [160])
    #expect(back.metadata["HKIndoorWorkout"] == .bool(true))
    let whole = try #require(read.first { $0.type.rawValue == "hae.workout" })
    guard case .unknown(_, .object(let members)) = whole.payload, case .array(let track)? = members["route"] else {
      throw Failure()
    }
    #expect(track.count == 2)
    #expect(
      track[0]
        == .object([
          "latitude": .number(52.5), "longitude": .number(13.25), "altitude": .integer(30), "speed": .number(2.5),
          "timestamp": .string("2024-06-15 10:30:01 +0200"),
        ]))
  }

  private struct Failure: Error {}

  @Test func whatTheAppHasNoPlaceForIsLeftOut() {
    let others = [
      quantity("NikeFuel", 1, "count"), quantity("StepCount", .infinity, "count"), quantity("BodyMass", 1, "m"),
      category("Headache", 1, seconds: 1), category("SleepAnalysis", 99, seconds: 1),
      sample("hae.step_count", .quantity(Quantity(1, "count"))),
      sample("HKCorrelationTypeIdentifierBloodPressure", .correlation(Correlation(members: []))),
    ]
    let (bytes, left) = file(others.map { ($0, []) })
    #expect(left == others)
    #expect(String(decoding: bytes, as: UTF8.self) == "{\"data\":{}}\n")
  }

  /// The table's units can be converted from those of HealthKit's catalogue, and every name occurs once.
  @Test func everyMetricTakesItsTypesUnit() {
    var names: Set<String> = []
    for entry in SampleTypeCatalogue.healthKit.entries {
      guard let metric = AutoExportMetrics.metric(of: entry.type), let unit = entry.canonicalUnit else { continue }
      #expect(names.insert(metric.name).inserted, "\(metric.name)")
      #expect(metric.value(Quantity(1, unit)) != nil, "\(metric.name)")
    }
    #expect(names.count > 90)
  }
}
