import Foundation
import HealthModel

/// A generator of identities for records with unique keys. Most records have the type and source of the record
/// before, so that this part is hashed once.
struct RecordIdentities {
  private var pair = (type: -1, source: -1)
  private var beginning = Self.beginning(type: "", source: "")

  private static func beginning(type: String, source: String) -> SampleIdentity.NameBeginning {
    SampleIdentity.NameBeginning(kind: ElementKind.record.identity, type: SampleType(type), source: source)
  }

  /// Returns whether the type and source, given by their numbers, are the same as before.
  func continues(type: Int, source: Int) -> Bool { pair.type == type && pair.source == source }

  /// Sets the type and source of the records that follow.
  ///
  /// - Parameter sources: the source names to use in identities.
  mutating func begin(type: Int, source: Int, _ types: [String], _ sources: [String]) {
    pair = (type, source)
    beginning = Self.beginning(type: types[type], source: sources[source])
  }

  func uuid(start: Timestamp, end: Timestamp, created: Timestamp?) -> UUID {
    beginning.uuid(start: start, end: end, created: created, ordinal: 0)
  }
}

/// A counter that finds keys of several samples, for samples that the survey has not seen: the routes of one workout,
/// and the side files.
struct SharedKeys<Key: Hashable> {
  private var counts: [Key: Int] = [:]

  var isEmpty: Bool { counts.isEmpty }

  mutating func add(_ key: Key) { counts[key, default: 0] += 1 }

  func isShared(_ key: Key) -> Bool { counts[key] ?? 0 > 1 }
}
