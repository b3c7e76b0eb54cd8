import Foundation
import GRDB
import HealthModel

/// Finds the identities that routes and clinical records have without their files: whoever deletes one of the two deletes the
/// other. Otherwise an import of the XML alone, or of the whole export, here or on another machine, would restore what the user
/// deleted.
struct BareCopies {
  /// Maximum ordinals tried: more records that agree in all their identities are made of nobody has.
  private static let ordinals = 16

  /// By the name of the kind, where its payload says what it belongs to.
  private static let links = Payload.sideFileTypes.map { "WHEN '\($0.kind)' THEN '\($0.sideFilePaths.link)'" }
    .joined(separator: " ")
  /// By the name of the kind, where its payload has what is in the file.
  private static let contents = Payload.sideFileTypes.map { "WHEN '\($0.kind)' THEN '\($0.sideFilePaths.content)'" }
    .joined(separator: " ")

  private let db: Database
  private var sources = StoredDictionary.sourceNames
  /// What may be in an identity beside the name that a sample shows.
  private var aliases: [String]?
  /// Whether the store has anything of these kinds.
  private var hasKinds: Bool?

  init(_ db: Database) {
    self.db = db
  }

  /// - Parameter deletions: of samples that are still here.
  func adding(to deletions: CodedChanges) throws -> CodedChanges {
    var (finder, result) = (self, deletions)
    for deletion in deletions.tombstones where deletion.uuid.isDerived {
      guard let type = try deletions.types[Int(deletion.type)].id(in: db),
        let bare = try finder.whole(deletion.uuid, start: deletion.start.microseconds, type: type).first?.bare,
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

  /// The UUIDs of the stored samples that have their files and would have `bare` without.
  ///
  /// - Parameter type: its row id.
  mutating func wholes(of bare: UUID, start: Int64, type: Int64) throws -> [UUID] {
    if try !hasAnyKind() { return [] }
    return try whole(nil, start: start, type: type).filter { $0.bare == bare }.map(\.uuid)
  }

  /// The identity that a sample with its file has without; `nil` for any other.
  mutating func identity(of sample: CodedSample, in changes: CodedChanges) throws -> UUID? {
    guard let kind = Payload.sideFileTypes.first(where: { $0.kind == changes.kinds[Int(sample.kind)] }),
      let payload = sample.payload
    else { return nil }
    let row = try Row.fetchOne(
      db, sql: "SELECT json_type(?1, ?2) IS NOT NULL, json_extract(?1, ?3) WHERE json_valid(?1)",
      arguments: [changes.payloads[Int(payload)], kind.sideFilePaths.content, kind.sideFilePaths.link])
    guard let row, row[0] as Bool else { return nil }
    return try bare(
      sample.uuid, kind, link: String.fromDatabaseValue(row[1]),
      SampleKey(
        kind: "", type: changes.types[Int(sample.type)], source: changes.sources[Int(sample.source)].name,
        start: sample.start.seconds, end: sample.end.seconds, created: sample.created?.seconds))
  }

  /// Samples with their files, and the UUIDs that those prove which they have without.
  ///
  /// - Parameter uuid: of one; `nil` for all that start then.
  private mutating func whole(_ uuid: UUID?, start: Int64, type: Int64) throws -> [(uuid: UUID, bare: UUID)] {
    var query = try Binding(
      db,
      """
      SELECT uuid, duration, created, source, kind.name, json_extract(payload, CASE kind.name \(Self.links) END)
      FROM sample JOIN kind ON kind.id = kind
      WHERE type = ? AND start = ?\(uuid == nil ? "" : " AND uuid = ?")
        AND json_valid(payload) AND json_type(payload, CASE kind.name \(Self.contents) END) IS NOT NULL
      """)
    query.bind(type)
    query.bind(start)
    if let uuid { query.bind(uuid) }
    var found: [(uuid: UUID, bare: UUID)] = []
    let name = try TypeNames(db).name(type)
    try query.rows(db) { row in
      guard let kind = Payload.sideFileTypes.first(where: { $0.kind == row.text(4) }) else { return true }
      let key = SampleKey(
        kind: "", type: name, source: try sources.value(of: row.integer(3), db),
        start: Timestamp(microseconds: start).seconds, end: Timestamp(microseconds: start &+ row.integer(1)).seconds,
        created: row.optionalInteger(2).map { Timestamp(microseconds: start &+ $0).seconds })
      let uuid = try row.uuid(0)
      if let bare = try bare(uuid, kind, link: row.text(5), key) { found.append((uuid, bare)) }
      return true
    }
    return found
  }

  /// The identity without its file of the one with it that is called `uuid`: which ordinal it has, that proves.
  private mutating func bare(
    _ uuid: UUID, _ kind: any SideFilePayload.Type, link: String?, _ key: SampleKey
  ) throws -> UUID? {
    var key = key
    let (payload, keyKind) = Self.withFile(kind, link: link)
    key.kind = keyKind
    for name in [key.source] + (try allAliases()) {
      key.source = name
      for ordinal in 0..<Self.ordinals where key.uuid(ordinal: ordinal) == uuid {
        return key.sideFileIdentity(payload, ordinal: ordinal)?.uuid
      }
    }
    return nil
  }

  private static func withFile(_ kind: any SideFilePayload.Type, link: String?) -> (payload: Payload, keyKind: String) {
    let (content, keyKind) = kind.withFile(link: link)
    return (content.payload, keyKind)
  }

  private mutating func hasAnyKind() throws -> Bool {
    if let hasKinds { return hasKinds }
    let names = Payload.sideFileTypes.map { "'\($0.kind)'" }.joined(separator: ",")
    let found = try Binding(db, "SELECT 1 FROM kind WHERE name IN (\(names)) LIMIT 1").integer(db) != nil
    hasKinds = found
    return found
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
