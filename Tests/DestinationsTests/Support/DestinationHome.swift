import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import TestSupport

@testable import Destinations

/// A store and helpers that create destinations and deliver to them.
struct DestinationHome {
  let directory: TemporaryDirectory
  let store: HealthStore
  let zone: ZoneRules
  /// A retry policy with pauses too short to notice.
  static let quick = RetryPolicy(
    firstPause: .milliseconds(1), longestPause: .milliseconds(2), longestRetryAfter: .zero, tolerance: 4)

  init(zone: String = "Europe/Berlin") throws {
    directory = try TemporaryDirectory(inMemory: true)
    store = try HealthStore(directory: directory.path("home"))
    self.zone = try ZoneRules(named: zone)
  }

  func add(_ samples: [Sample]) async throws { try await store.apply(ChangeBatch(additions: samples)) }

  func delete(_ samples: [Sample]) async throws {
    try await store.apply(
      ChangeBatch(deletions: samples.map { Tombstone(sample: $0.reference, deleted: .now) }))
  }

  func environment(_ secrets: [String: String] = [:], filter: SampleFilter = .everything) -> DestinationEnvironment {
    DestinationEnvironment(
      record: RecordReader(store, filter: filter, zone: zone), secrets: SecretStore(environment: secrets),
      stateFolder: directory.path("state"))
  }

  /// - Parameter secrets: The secrets, by the names used with `env:`.
  func make<Place: Destination>(
    _ kind: Place.Type, _ values: [String: DestinationSettings.Value], secrets: [String: String] = [:]
  ) throws -> Place {
    try Place(
      try DestinationSettings(name: "test", values, of: Place.description), in: environment(secrets))
  }

  /// Delivers pending changes.
  func deliver<Place: Destination>(
    to place: Place, policy: RetryPolicy = quick
  ) async throws -> CourierReport {
    try await courier(to: place, policy: policy).run()
  }

  func courier<Place: Destination>(
    to place: Place, policy: RetryPolicy = quick
  ) -> Courier<Place> {
    Courier(
      to: place, named: "\(Place.description.kind.rawValue):test", from: store, policy: policy,
      deadLetters: DeadLetters(path: directory.path("refused.jsonl")))
  }

  /// Returns the reasons of the samples that were refused permanently, by UUID.
  func refused() -> [String: String] {
    guard let text = try? String(contentsOfFile: directory.path("refused.jsonl"), encoding: .utf8) else { return [:] }
    var refused: [String: String] = [:]
    for line in text.split(separator: "\n") {
      guard let fields = try? JSONDecoder().decode([String: String].self, from: Data(line.utf8)) else { continue }
      if let uuid = fields["uuid"] { refused[uuid] = fields["reason"] }
    }
    return refused
  }
}
