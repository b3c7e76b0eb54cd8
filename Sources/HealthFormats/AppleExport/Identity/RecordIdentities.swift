import Foundation
import HealthModel

/// The identities of records that are alone with their keys, which mostly have the type and the source of the record
/// before: what these have in common is hashed once.
struct RecordIdentities {
  private var pair = (type: -1, source: -1)
  private var beginning = Self.beginning(type: "", source: "")

  private static func beginning(type: String, source: String) -> SampleIdentity.NameBeginning {
    SampleIdentity.NameBeginning(kind: ElementKind.record.identity, type: SampleType(type), source: source)
  }

  /// Whether the type and the source of the following, by their numbers, are the same as before.
  func continues(type: Int, source: Int) -> Bool { pair.type == type && pair.source == source }

  /// Chooses the type and the source of the following.
  ///
  /// - Parameter sources: the names that identities use.
  mutating func begin(type: Int, source: Int, _ types: [String], _ sources: [String]) {
    pair = (type, source)
    beginning = Self.beginning(type: types[type], source: sources[source])
  }

  func uuid(start: Timestamp, end: Timestamp, created: Timestamp?) -> UUID {
    beginning.uuid(start: start, end: end, created: created, ordinal: 0)
  }
}

/// Finds the keys that several samples have, where the survey has not seen them all: those of one workout, and those in
/// files beside the XML.
struct SharedKeys<Key: Hashable> {
  private var counts: [Key: Int] = [:]

  var isEmpty: Bool { counts.isEmpty }

  mutating func add(_ key: Key) { counts[key, default: 0] += 1 }

  func isShared(_ key: Key) -> Bool { counts[key] ?? 0 > 1 }
}
