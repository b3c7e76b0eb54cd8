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
  /// By type; `nil` as it was kept before there were any.
  private var units: [String: String]?

  init(_ settings: AnalysisSettings, in zone: ZoneRules, units: [SampleType: String]) {
    self.units = units.isEmpty ? nil : Dictionary(units.map { ($0.key.rawValue, $0.value) }) { $1 }
    (homeZone, self.zone) = (settings.homeZone, zone.name)
    firstSources = Dictionary(settings.firstSources.map { ($0.key.rawValue, $0.value) }) { $1 }
  }

  /// Whether the person has decided for another zone. That a process has another `TZ` is no decision.
  func hasOtherZone(than other: NumberBasis) -> Bool { homeZone != other.homeZone && zone != other.zone }

  /// The types of which another source counts first, or whose numbers are in another unit.
  func typesToldOtherwise(than other: NumberBasis) -> Set<SampleType> {
    func differing(_ these: [String: String], _ those: [String: String]) -> Set<SampleType> {
      Set(Set(these.keys).union(those.keys).filter { these[$0] != those[$0] }.map { SampleType($0) })
    }
    return differing(firstSources, other.firstSources).union(differing(units ?? [:], other.units ?? [:]))
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
