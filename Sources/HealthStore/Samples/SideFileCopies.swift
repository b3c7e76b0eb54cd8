import Foundation
import GRDB
import HealthModel

/// Finds the samples that are one with another but for a file beside the XML of an Apple Health export.
///
/// An export without its files has routes without points and clinical records without resources. Each has an identity of
/// its own, so that what is missing is not missed when a whole export comes later. Of the two, the one that says more
/// stays, whichever came first; what never was in the store needs no tombstone, until the one that says more is deleted: then
/// both are.
///
/// A reader of an export knows both identities. Of what comes another way, the source and what it belongs to tell.
struct SideFileCopies {
  /// A sample of the store that is one with another.
  struct Copy {
    /// The change number of the row.
    var change: Int64
    var uuid: UUID
    /// Whether it is the one that says less.
    var isBare: Bool
    /// The GPX file of a route's points, which all parts of a long route have in common; `nil` for other samples.
    var path: String?
    /// Whether it has the other identity of that one.
    var isExact: Bool
  }

  private static let queries = Dictionary(
    uniqueKeysWithValues: Payload.sideFileTypes.map { ($0.kind, sql($0.sideFilePaths)) })

  /// By the index of a kind among those of the changes that are written; `nil` for kinds without files.
  private let queries: [String?]

  /// For the UUID of a sample with or without its file, the identity that it has the other way.
  let others: [UUID: SideFileIdentity]

  /// - Parameter kinds: of the changes that are written.
  init(kinds: [String], others: [UUID: SideFileIdentity] = [:]) {
    self.others = others
    queries = kinds.map { Self.queries[$0] }
  }

  /// Whether the sample is of a kind that has files, and from an export: an app's have all that there is.
  func concern(_ sample: CodedSample) -> Bool {
    queries[Int(sample.kind)] != nil && sample.uuid.isDerived
  }

  /// What says more than `sample` if it has no content, and what says less if it has; first the one with its other identity.
  ///
  /// - Parameter type: its row id.
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
