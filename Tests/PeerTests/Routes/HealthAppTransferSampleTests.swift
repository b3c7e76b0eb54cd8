import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("Samples in HealthAppTransfer's shape")
struct HealthAppTransferSampleTests {
  private static func samples(_ answer: Answer) throws -> [[String: Any]] {
    try #require(try answer.data()["samples"] as? [[String: Any]])
  }

  @Test("values are in the canonical unit")
  func units() async throws {
    try await withServer(ServerOptions(samples: [Samples.quantity(Samples.walking, 1.5, "km")])) { server in
      let token = try await server.token().token
      let sample = try #require(
        try Self.samples(try await server.get("\(Route.data)?type=distanceWalkingRunning", token: token)).first)
      #expect(sample["value"] as? Double == 1500)
      #expect(sample["unit"] as? String == "m")
      #expect(sample["type"] as? String == "distanceWalkingRunning")
      #expect(sample["sourceName"] as? String == "Casey\u{2019}s Apple\u{a0}Watch")
      #expect(sample["sourceBundleIdentifier"] as? String == "com.apple.health.E1")
    }
  }

  @Test("a category has its integer, and none where only its name is known: 0 would mean in bed")
  func category() async throws {
    let future = CategoryValue(value: nil, name: "HKCategoryValueSleepAnalysisFuture")
    try await withServer(
      ServerOptions(samples: [
        Samples.sample(Samples.sleep, at: Samples.noon, .category(CategoryValue(value: 3))),
        Samples.sample(Samples.sleep, at: Samples.noon - 60, .category(future)),
      ])
    ) { server in
      let token = try await server.token().token
      let samples = try Self.samples(try await server.get("\(Route.data)?type=sleepAnalysis", token: token))
      #expect(samples.map { $0["categoryValue"] as? Int } == [3, nil])
      let sample = try #require(samples.first)
      #expect(sample["value"] == nil)
      #expect(sample["metadataJSON"] == nil)
    }
  }

  @Test("a workout has its totals, from attributes or from statistics, in kcal and metres")
  func workouts() async throws {
    let withTotals = Workout(
      activityType: .value(37), duration: 1800.25,
      totals: ["totalDistance": Quantity(5, "km"), "totalEnergyBurned": Quantity(1000, "kJ")])
    let withStatistics = Workout(
      activityType: .value(13),
      statistics: [
        WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierDistanceCycling"), sum: 10, unit: "mi"),
        WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"), sum: 250, unit: "kcal"),
        WorkoutStatistics(type: Samples.heartRate, average: 140, unit: "count/min"),
      ])
    let broken = Workout(
      activityType: .value(52), duration: .nan, totals: ["totalDistance": Quantity(.infinity, "m")])
    try await withServer(
      ServerOptions(samples: [
        Samples.sample(.workout, at: Samples.noon, .workout(withTotals)),
        Samples.sample(.workout, at: Samples.noon - 100, lasting: 90, .workout(withStatistics)),
        Samples.sample(.workout, at: Samples.noon - 200, lasting: 30, .workout(broken)),
        Samples.sample(
          .workout, at: Samples.noon - 300, .workout(Workout(activityType: .name("HKWorkoutActivityTypeNew")))),
      ])
    ) { server in
      let token = try await server.token().token
      let answer = try await server.get("\(Route.data)?type=workout", token: token)
      #expect(answer.status == 200)
      let workouts = try Self.samples(answer)
      // HealthKit has no number for the fourth's activity, and the app one for others.
      #expect(workouts.map { $0["workoutActivityType"] as? Int } == [37, 13, 52, 3000])
      #expect(workouts.map { $0["workoutDuration"] as? Double } == [1800.25, 90, 30, 60])
      #expect(workouts[0]["workoutTotalDistance"] as? Double == 5000)
      let energy = try #require(workouts[0]["workoutTotalEnergyBurned"] as? Double)
      #expect(abs(energy - 239.0057) < 0.001)
      #expect(workouts[1]["workoutTotalDistance"] as? Double == 16_093.44)
      #expect(workouts[1]["workoutTotalEnergyBurned"] as? Double == 250)
      #expect(workouts[2]["workoutTotalDistance"] == nil)
      #expect(try answer.data()["totalCount"] as? Int == 4)
    }
  }

  @Test("a blood pressure carries its two values, in mmHg")
  func bloodPressure() async throws {
    let upper = Samples.quantity(Samples.systolic, 16, "kPa")
    let lower = Samples.quantity(Samples.diastolic, 80.5, "mmHg")
    let pressure = Samples.sample(
      Samples.bloodPressure, .correlation(Correlation(members: [upper.reference, lower.reference])))
    try await withServer(ServerOptions(samples: [upper, lower, pressure])) { server in
      let path = "\(Route.data)?type=bloodPressure"
      let token = try await server.token().token
      let sample = try #require(try Self.samples(try await server.get(path, token: token)).first)
      let values = try #require(sample["correlationValues"] as? [String: Double])
      #expect(values.keys.sorted() == ["diastolic", "systolic"])
      #expect(abs(try #require(values["systolic"]) - 120.0099) < 0.001)
      #expect(values["diastolic"] == 80.5)
      #expect(sample["unit"] as? String == "mmHg")
      // A scope that leaves out a member leaves out its value.
      let narrow = try await server.token(
        scope: SampleFilter(types: [Samples.bloodPressure, Samples.diastolic]))
      let part = try #require(try Self.samples(try await server.get(path, token: narrow.token)).first)
      #expect(part["correlationValues"] as? [String: Double] == ["diastolic": 80.5])
    }
  }

  @Test("metadata is JSON inside a string")
  func metadata() async throws {
    let sample = Samples.quantity(
      metadata: [
        "HKTimeZone": "Europe/Berlin", "HKMetadataKeyHeartRateMotionContext": .integer(1), "f": .number(0.5),
        "b": .bool(true), "d": .date(Timestamp(microseconds: Samples.noon * 1_000_000 + 500_000)), "n": .number(.nan),
      ])
    try await withServer(ServerOptions(samples: [sample])) { server in
      let token = try await server.token().token
      let object = try #require(
        try Self.samples(try await server.get("\(Route.data)?type=heartRate", token: token)).first)
      let text = try #require(object["metadataJSON"] as? String)
      let metadata = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      #expect(metadata["HKTimeZone"] as? String == "Europe/Berlin")
      #expect(metadata["HKMetadataKeyHeartRateMotionContext"] as? Int == 1)
      #expect(metadata["f"] as? Double == 0.5)
      #expect(metadata["b"] as? Bool == true)
      #expect(metadata["d"] as? String == "2024-06-15T10:30:00Z")
      #expect(metadata["n"] as? String == "nan")
    }
  }
}
