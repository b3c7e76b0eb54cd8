import Foundation
import HealthAnalysis
import HealthModel
import HealthStore

/// The person's choices that a destination's statistics were computed with: the home zone, the preferred sources and
/// the units. The store keeps them beside the destination's position.
struct StatisticsBasis: ConsumerNote, Hashable {
  package static let notePrefix = "numbers"

  /// The chosen home zone; `nil` for the machine's zone.
  private var homeZone: String?
  /// The zone that the statistics were computed in.
  let zone: String
  private var firstSources: [String: String]
  /// The unit of each type; `nil` if stored before units could be chosen.
  private var units: [String: String]?

  init(_ settings: AnalysisSettings, in zone: ZoneRules, units: [SampleType: String]) {
    self.units = units.isEmpty ? nil : Dictionary(units.map { ($0.key.rawValue, $0.value) }) { $1 }
    (homeZone, self.zone) = (settings.homeZone, zone.name)
    firstSources = Dictionary(settings.firstSources.map { ($0.key.rawValue, $0.value) }) { $1 }
  }

  /// Returns whether the person has chosen another zone. A different `TZ` variable of the process is not a choice.
  func hasOtherZone(than other: StatisticsBasis) -> Bool { homeZone != other.homeZone && zone != other.zone }

  /// Returns the types whose preferred source or unit is different.
  func typesToldOtherwise(than other: StatisticsBasis) -> Set<SampleType> {
    func differing(_ these: [String: String], _ those: [String: String]) -> Set<SampleType> {
      Set(Set(these.keys).union(those.keys).filter { these[$0] != those[$0] }.map { SampleType($0) })
    }
    return differing(firstSources, other.firstSources).union(differing(units ?? [:], other.units ?? [:]))
  }
}
