import Foundation
import HealthAnalysis
import HealthModel
import HealthStore

/// What a person had decided about numbers when a destination was last given any: whose days count, and which sources
/// count before all others. The store keeps it beside the destination's position.
struct NumberBasis: Codable, Hashable {
  /// As it was decided; `nil` for the zone of the machine.
  private var homeZone: String?
  /// The zone that this was.
  let zone: String
  private var firstSources: [String: String]

  init(_ settings: AnalysisSettings, in zone: ZoneRules) {
    (homeZone, self.zone) = (settings.homeZone, zone.name)
    firstSources = Dictionary(settings.firstSources.map { ($0.key.rawValue, $0.value) }) { $1 }
  }

  /// Whether the person has decided for another zone. That a process has another `TZ` is no decision.
  func hasOtherZone(than other: NumberBasis) -> Bool { homeZone != other.homeZone && zone != other.zone }

  /// The types of which another source counts first.
  func typesRankedOtherwise(than other: NumberBasis) -> Set<SampleType> {
    let names = Set(firstSources.keys).union(other.firstSources.keys)
    return Set(names.filter { firstSources[$0] != other.firstSources[$0] }.map { SampleType($0) })
  }

  // MARK: Keeping it

  private static func activity(_ consumer: String) -> String { "numbers:\(consumer)" }

  /// `nil` where nothing is known.
  static func kept(of consumer: String, in store: HealthStore) async throws -> NumberBasis? {
    guard let mark = try await store.activities.state(of: activity(consumer))?.mark else { return nil }
    return try? JSONDecoder().decode(NumberBasis.self, from: Data(mark.utf8))
  }

  func keep(of consumer: String, in store: HealthStore) async throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let mark = String(decoding: try encoder.encode(self), as: UTF8.self)
    try await store.activities.setMark(mark, Self.activity(consumer))
  }

  static func forget(of consumer: String, in store: HealthStore) async throws {
    try await store.activities.remove(activity(consumer))
  }
}
