import Foundation
import HealthModel

@testable import Destinations

/// The harness of the destination `home-assistant`, with the history of a person in a real Home Assistant.
struct HomeAssistantHarness: DestinationHarness {
  typealias Place = HomeAssistantDestination
  private let server: HomeAssistantServer

  static func start() async throws -> Self {
    guard HomeAssistantServer.isInstalled else { throw HarnessUnavailable(HomeAssistantServer.environment.missing) }
    return Self(server: try await HomeAssistantVersion.oldest.server)
  }

  var port: Int? { server.port }
  var secrets: [String: String] { ["TOKEN": server.token] }

  func settings(_ place: HarnessPlace) -> [String: DestinationSettings.Value] {
    [
      "url": .text("\(place.scheme)://127.0.0.1:\(place.port)"), "token": .text("env:TOKEN"),
      "person": .text(place.name),
    ]
  }

  /// Returns the change of each hour.
  func contents(of place: HarnessPlace) async throws -> [String] {
    try await server.statistics("hpeer:\(place.name)_step_count").compactMap { row in
      let change = row.values["change"] ?? 0
      return change == 0 ? nil : "\(row.start) \(change)"
    }
  }

  func loseAll(at place: HarnessPlace) async throws -> Bool {
    _ = try await server.call(
      "recorder/clear_statistics", ["statistic_ids": .array([.string("hpeer:\(place.name)_step_count")])])
    for name in ["step_count", "delivered"] {
      _ = try await server.ask("DELETE", "api/states/sensor.hpeer_\(place.name)_\(name)")
    }
    return true
  }

  func expected(_ samples: [Sample]) -> [String] {
    let sums = samples.reduce(into: [Int64: Double]()) { sums, sample in
      if case .quantity(let quantity) = sample.payload {
        sums[sample.start.seconds / 3_600 * 3_600, default: 0] += quantity.value
      }
    }
    return sums.map { "\($0.key) \($0.value)" }
  }
}
