import Foundation
import GRDB
import HealthModel

/// Finds the identities that deleted routes and clinical records have without their files. They get tombstones too:
/// otherwise an import of the XML alone, here or on another machine, would restore what the user deleted.
struct BareCopies {
  /// Maximum ordinals tried: more records that agree in all their identities are made of nobody has.
  private static let ordinals = 16

  private let db: Database
  private var sources = StoredDictionary.sourceNames
  /// What may be in an identity beside the name that a sample shows.
  private var aliases: [String]?

  init(_ db: Database) {
    self.db = db
  }

  /// - Parameter deletions: of samples that are still here.
  func adding(to deletions: CodedChanges) throws -> CodedChanges {
    var (finder, result) = (self, deletions)
    for deletion in deletions.tombstones where deletion.uuid.isDerived {
      guard let type = try deletions.types[Int(deletion.type)].id(in: db),
        let bare = try finder.bareCopy(of: deletion, deletions.types[Int(deletion.type)], type),
        // One that is here is another's.
        try !KnownIdentities.has(.sample, bare, start: deletion.start.microseconds, type: type, db)
      else { continue }
      var tombstone = deletion
      tombstone.uuid = bare
      // What was deleted is told of once.
      (tombstone.end, tombstone.source, tombstone.road, tombstone.hint) = (nil, nil, .unknown, nil)
      result.tombstones.append(tombstone)
    }
    return result
  }

  /// Which it is, the UUID of the one with its file proves.
  private mutating func bareCopy(of deletion: CodedTombstone, _ name: SampleType, _ type: Int64) throws -> UUID? {
    var query = try Binding(
      db,
      """
      SELECT duration, created, source, kind.name = 'workoutRoute', json_extract(payload, '$.identifier')
      FROM sample JOIN kind ON kind.id = kind
      WHERE type = ? AND start = ? AND uuid = ? AND kind.name IN ('workoutRoute', 'clinicalRecord')
        AND json_valid(payload)
      """)
    query.bind(type)
    query.bind(deletion.start.microseconds)
    query.bind(deletion.uuid)
    var key: SampleKey?
    var payload = Payload.workoutRoute(WorkoutRoute(points: [RoutePoint(latitude: 0, longitude: 0)]))
    try query.rows(db) { row in
      let start = deletion.start.microseconds
      key = SampleKey(
        kind: "WorkoutRoute", type: name, source: try sources.value(of: row.integer(2), db),
        start: deletion.start.seconds,
        end: Timestamp(microseconds: start &+ row.integer(0)).seconds,
        created: row.optionalInteger(1).map { Timestamp(microseconds: start &+ $0).seconds })
      if row.integer(3) == 0 {
        let identifier = row.text(4) ?? ""
        key?.kind = "ClinicalRecord:\(identifier):resource"
        payload = .clinicalRecord(ClinicalRecord(identifier: identifier, resource: .null))
      }
      return false
    }
    guard var key else { return nil }
    for name in [key.source] + (try allAliases()) {
      key.source = name
      for ordinal in 0..<Self.ordinals where key.uuid(ordinal: ordinal) == deletion.uuid {
        return key.sideFileIdentity(payload, ordinal: ordinal)?.uuid
      }
    }
    return nil
  }

  private mutating func allAliases() throws -> [String] {
    if let aliases { return aliases }
    var found: [String] = []
    try Binding(db, "SELECT DISTINCT identity FROM sourceAlias ORDER BY identity LIMIT 256").rows(db) { row in
      if let name = row.text(0) { found.append(name) }
      return true
    }
    aliases = found
    return found
  }
}
