import Foundation
import GRDB
import HealthModel

/// A finder of copies of a sample that differ only in a file beside the XML of an Apple Health export.
///
/// An export without its files has routes without points and clinical records without resources. They have identities
/// of their own, so that the content can still be added when a complete export comes later. Of two copies, the more
/// complete one stays, whichever came first. The other needs no tombstone until the more complete one is deleted:
/// then both are.
///
/// The reader of an export knows both identities. Copies that come another way are matched by source and link.
struct SideFileCopies {
  /// A stored sample that is a copy of another.
  struct Copy {
    /// The change number of the copy's row.
    var change: Int64
    var uuid: UUID
    /// Whether the copy lacks the content of the side file.
    var isBare: Bool
    /// The GPX file of a route's points, which all parts of a long route share, or `nil` for other samples.
    var path: String?
    /// Whether the copy has exactly the other identity of the sample.
    var isExact: Bool
  }

  private static let queries = Dictionary(
    uniqueKeysWithValues: Payload.sideFileTypes.map { ($0.kind, sql($0.sideFilePaths)) })

  /// The queries by the index of a kind in the changes; `nil` for kinds without side files.
  private let queries: [String?]

  /// The identity without or with the side file, by the UUID of the sample with or without it.
  let others: [UUID: SideFileIdentity]

  /// Creates a finder for changes with these kinds.
  init(kinds: [String], others: [UUID: SideFileIdentity] = [:]) {
    self.others = others
    queries = kinds.map { Self.queries[$0] }
  }

  /// Returns whether the sample is of a kind with side files and came from an export. An app's samples are always
  /// complete.
  func concern(_ sample: CodedSample) -> Bool {
    queries[Int(sample.kind)] != nil && sample.uuid.isDerived
  }

  /// Returns the more complete copies of a sample without content, or the less complete copies of a sample with
  /// content. The copy with its other identity is first.
  ///
  /// - Parameter type: the row id of the type.
  func find(_ sample: CodedSample, in changes: CodedChanges, type: Int64, _ db: Database) throws -> [Copy] {
    guard let payload = sample.payload, let sql = queries[Int(sample.kind)] else { return [] }
    let start = sample.start.microseconds
    var query = try Binding(db, sql)
    query.bind(type)
    query.bind(start)
    query.bind(sample.end.microseconds &- start)
    query.bind(sample.created.map { $0.microseconds &- start })
    query.bind(changes.payloads[Int(payload)])
    query.bind(changes.sources[Int(sample.source)].name)
    let other = others[sample.uuid]
    query.bind(other?.uuid)
    var copies: [Copy] = []
    try query.rows(db) { row in
      let uuid = try row.uuid(1)
      let copy = Copy(
        change: row.integer(0), uuid: uuid, isBare: row.integer(2) != 0, path: row.text(3), isExact: uuid == other?.uuid
      )
      if copy.isExact { copies.insert(copy, at: 0) } else if uuid.isDerived { copies.append(copy) }
      return true
    }
    return copies
  }

  private static func sql(_ paths: SideFilePaths) -> String {
    """
    SELECT change, uuid, json_type(payload, '\(paths.content)') IS NULL,
      \(paths.path.map { "json_extract(payload, '\($0)')" } ?? "NULL")
    FROM sample
    WHERE type = ?1 AND start = ?2
      AND CASE WHEN json_valid(payload) AND json_valid(?5) THEN
        (json_type(payload, '\(paths.content)') IS NULL) <> (json_type(?5, '\(paths.content)') IS NULL)
        AND (uuid = ?7 OR duration = ?3 AND created IS ?4
          AND json_extract(payload, '\(paths.link)') = json_extract(?5, '\(paths.link)')
          AND ?6 = (SELECT json_extract(json, '$.name') FROM source WHERE id = sample.source)) END
    ORDER BY uuid
    """
  }
}
