import Foundation
import GRDB
import HealthModel

/// A finder of the identity that a route or clinical record would have without its side file, so that deleting the
/// sample deletes both identities. Otherwise an import of the XML alone, or of the whole export, here or on another
/// machine, would restore what the user deleted.
struct BareCopies {
  /// The maximum number of ordinals tried. No person has more records that agree in everything that identities are
  /// derived from.
  private static let ordinals = 16

  /// The JSON path of the link to the sample's owner, by the name of the kind, as cases of an SQL expression.
  private static let links = Payload.sideFileTypes.map { "WHEN '\($0.kind)' THEN '\($0.sideFilePaths.link)'" }
    .joined(separator: " ")
  /// The JSON path of the content of the side file, by the name of the kind, as cases of an SQL expression.
  private static let contents = Payload.sideFileTypes.map { "WHEN '\($0.kind)' THEN '\($0.sideFilePaths.content)'" }
    .joined(separator: " ")

  private let db: Database
  private var sources = StoredDictionary.sourceNames
  /// The names that identities may be derived from instead of the displayed source name.
  private var aliases: [String]?
  /// Whether the store has any samples of these kinds.
  private var hasKinds: Bool?

  init(_ db: Database) {
    self.db = db
  }

  /// Returns the deletions with tombstones for the identities without side files added.
  ///
  /// - Parameter deletions: tombstones of samples that still exist.
  func adding(to deletions: CodedChanges) throws -> CodedChanges {
    var (finder, result) = (self, deletions)
    for deletion in deletions.tombstones where deletion.uuid.isDerived {
      guard let type = try deletions.types[Int(deletion.type)].id(in: db),
        let bare = try finder.whole(deletion.uuid, start: deletion.start.microseconds, type: type).first?.bare,
        // An existing sample with that identity is a different record.
        try !KnownIdentities.has(.sample, bare, start: deletion.start.microseconds, type: type, db)
      else { continue }
      var tombstone = deletion
      tombstone.uuid = bare
      // The deletion is reported once, by the other tombstone.
      (tombstone.end, tombstone.road, tombstone.hint) = (nil, .unknown, nil)
      result.tombstones.append(tombstone)
    }
    return result
  }

  /// Returns the UUIDs of the stored samples with a side file that would have the identity `bare` without it.
  ///
  /// - Parameter type: the row id of the type.
  mutating func wholes(of bare: UUID, start: Int64, type: Int64) throws -> [UUID] {
    if try !hasAnyKind() { return [] }
    return try whole(nil, start: start, type: type).filter { $0.bare == bare }.map(\.uuid)
  }

  /// Returns the identity that a sample with a side file would have without it, or `nil` for any other sample.
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

  /// Returns samples with side files, and the UUID that each would have without its file.
  ///
  /// - Parameter uuid: the UUID of one sample, or `nil` for all samples with this start.
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

  /// Returns the identity without the side file of the sample `uuid`. Its UUID shows which ordinal it has.
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
