import Foundation
import HealthModel

@testable import Destinations

/// Samples of many kinds from a source and a device whose names contain a recognizable name, for tests that names are
/// not sent.
enum NamelessRecord {
  /// A name that is part of all source and device names and occurs nowhere else.
  static let name = "Xanthippe"

  /// Returns samples from two days ago, so that destinations for daily or current values handle them, too.
  static func samples(now: Timestamp = .now) -> [Sample] {
    let start = (now.seconds - 2 * 86_400) / 3_600 * 3_600
    func sample(_ type: String, _ payload: Payload, at minute: Int64, for minutes: Int64 = 10) -> Sample {
      Sample(
        uuid: UUID(), type: SampleType(type), start: Timestamp(seconds: start + minute * 60),
        end: Timestamp(seconds: start + (minute + minutes) * 60),
        source: Source(name: "\(name)’s Watch", bundleIdentifier: "com.\(name.lowercased()).watch", version: "10.5"),
        device: Device(
          name: "\(name)’s", manufacturer: "Apple Inc.", model: "Watch", localIdentifier: "\(name)-1",
          text: "name:\(name)"),
        metadata: ["HKDeviceName": .string(name)], payload: payload)
    }
    func quantity(_ name: String, _ value: Double, _ unit: String, at minute: Int64) -> Sample {
      sample("HKQuantityTypeIdentifier\(name)", .quantity(Quantity(value, unit)), at: minute)
    }
    let pressures = [
      quantity("BloodPressureSystolic", 120, "mmHg", at: 5), quantity("BloodPressureDiastolic", 80, "mmHg", at: 5),
    ]
    let workout = sample(
      SampleType.workout.rawValue, .workout(Workout(activityType: .value(37), duration: 1_800)), at: 60)
    let route = sample(
      SampleType.workoutRoute.rawValue,
      .workoutRoute(
        WorkoutRoute(
          workout: workout.reference, path: nil,
          points: (0..<3).map { RoutePoint(time: Double(start + 3_600 + $0), latitude: 52.5, longitude: 13.4) })),
      at: 60)
    return pressures + [
      sample(
        "HKCorrelationTypeIdentifierBloodPressure", .correlation(Correlation(members: pressures.map(\.reference))),
        at: 5),
      quantity("StepCount", 500, "count", at: 0), quantity("StepCount", 700, "count", at: 20),
      quantity("HeartRate", 61, "count/min", at: 0), quantity("BodyMass", 80, "kg", at: 0), workout, route,
      sample("HKCategoryTypeIdentifierSleepAnalysis", .category(CategoryValue(value: 3)), at: -480, for: 200),
      sample("HKCategoryTypeIdentifierSleepAnalysis", .category(CategoryValue(value: 4)), at: -280, for: 100),
    ]
  }

  /// Returns sets of settings that change what is sent, to be tested one at a time.
  static func settings(of description: DestinationDescription) -> [[String: DestinationSettings.Value]] {
    var usual: [String: DestinationSettings.Value] = [:]
    for field in description.fields where ["nights", "discovery", "whole-samples"].contains(field.key) {
      usual[field.key] = .boolean(true)
    }
    let shapes = description.fields.flatMap { field -> [[String: DestinationSettings.Value]] in
      guard ["body", "format"].contains(field.key), case .choice(let choices) = field.kind else { return [] }
      return choices.map { [field.key: .text($0)] }
    }
    return shapes.isEmpty ? [usual] : shapes.map { usual.merging($0) { $1 } }
  }

  /// Returns whether bytes contain the name, ignoring case.
  static func isNamed(in bytes: [UInt8]) -> Bool {
    String(decoding: bytes, as: UTF8.self).localizedCaseInsensitiveContains(name)
  }
}
