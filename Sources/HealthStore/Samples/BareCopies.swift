import Foundation
import GRDB
import HealthModel

/// Finds the identities that deleted routes and clinical records have without their files. They get tombstones too:
/// otherwise an import of the XML alone, here or on another machine, would restore what the user deleted.
struct BareCopies {
  /// Maximum ordinals tried: more records that agree in all their identities are made of nobody has.
  private static let ordinals = 16

  /// By the name of the kind, where its payload says what it belongs to.
  private static let links = Payload.sideFileTypes.map { "WHEN '\($0.kind)' THEN '\($0.sideFilePaths.link)'" }
    .joined(separator: " ")

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
      (tombstone.end, tombstone.road, tombstone.hint) = (nil, .unknown, nil)
      result.tombstones.append(tombstone)
    }
    return result
  }

  /// Which it is, the UUID of the one with its file proves.
  private mutating func bareCopy(of deletion: CodedTombstone, _ name: SampleType, _ type: Int64) throws -> UUID? {
    var query = try Binding(
      db,
      """
      SELECT duration, created, source, kind.name, json_extract(payload, CASE kind.name \(Self.links) END)
      FROM sample JOIN kind ON kind.id = kind
      WHERE type = ? AND start = ? AND uuid = ? AND CASE kind.name \(Self.links) END IS NOT NULL AND json_valid(payload)
      """)
    query.bind(type)
    query.bind(deletion.start.microseconds)
    query.bind(deletion.uuid)
    var key: SampleKey?
    var payload: Payload?
    try query.rows(db) { row in
      guard let kind = Payload.sideFileTypes.first(where: { $0.kind == row.text(3) }) else { return false }
      let (content, keyKind) = kind.withFile(link: row.text(4))
      let start = deletion.start.microseconds
      payload = content.payload
      key = SampleKey(
        kind: keyKind, type: name, source: try sources.value(of: row.integer(2), db), start: deletion.start.seconds,
        end: Timestamp(microseconds: start &+ row.integer(0)).seconds,
        created: row.optionalInteger(1).map { Timestamp(microseconds: start &+ $0).seconds })
      return false
    }
    guard var key, let payload else { return nil }
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
