import Foundation
import HealthModel
import OperatingSystem
import TestSupport

@testable import Destinations

/// The harness of the destination `mqtt`, with the messages retained by a real mosquitto.
struct MQTTHarness: DestinationHarness {
  typealias Place = MQTTDestination
  private static let types = [
    ("BodyMass", "kg"), ("HeartRate", "count/min"), ("RespiratoryRate", "count/min"), ("BodyTemperature", "degC"),
    ("Height", "cm"), ("RestingHeartRate", "count/min"), ("VO2Max", "mL/min·kg"),
  ]
  private let broker: MosquittoBroker

  static func start() async throws -> Self {
    guard MosquittoBroker.isInstalled else { throw HarnessUnavailable(MosquittoBroker.missing) }
    return Self(
      broker: try await onThread { _ in
        let broker = try MosquittoBroker()
        try broker.start()
        return broker
      })
  }

  var port: Int? { broker.port }
  var speaksHTTP: Bool { false }

  func settings(_ place: HarnessPlace) -> [String: DestinationSettings.Value] {
    ["url": .text("mqtt://127.0.0.1:\(place.port)"), "person": .text(place.name)]
  }

  /// Returns samples of types whose current value is the newest sample.
  func samples(_ count: Int) -> [Sample] {
    var maker = SampleMaker(seed: 16)
    return (0..<count).map { index in
      var sample = maker.steps(at: index)
      let (type, unit) = Self.types[index % Self.types.count]
      sample.type = SampleType("HKQuantityTypeIdentifier\(type)")
      sample.payload = .quantity(Quantity(Double(index), unit))
      return sample
    }
  }

  func contents(of place: HarnessPlace) async throws -> [String] {
    let found = try await onThread { [broker] _ in try broker.retained(below: "hpeer/\(place.name)/#") }
    return try found.filter { !$0.key.hasSuffix("/status") && !$0.key.hasSuffix("/delivery") }.map { topic, payload in
      guard case .object(let members) = try CanonicalJSON.decode(JSONValue.self, payload), let value = members["value"]
      else { return topic }
      return "\(topic.split(separator: "/").last ?? "") \(value)"
    }
  }

  /// Restarts the broker, which keeps nothing on disk.
  func loseAll(at place: HarnessPlace) async throws -> Bool {
    try await onThread { [broker] _ in
      broker.kill()
      try broker.start()
    }
    return true
  }

  func expected(_ samples: [Sample]) -> [String] {
    let newest = Dictionary(grouping: samples, by: \.type).compactMapValues { $0.max { $0.start < $1.start } }
    return newest.map { type, sample in
      guard case .quantity(let quantity) = sample.payload else { return "" }
      return "\(type.shortName) \(JSONValue.integer(Int64(quantity.value)))"
    }
  }
}
