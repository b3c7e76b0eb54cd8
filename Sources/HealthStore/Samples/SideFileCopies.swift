import Foundation
import GRDB
import HealthModel

/// Finds the samples that are one with another but for a file beside the XML of an Apple Health export.
///
/// An export without its files has routes without points and clinical records without resources. Each has an identity of
/// its own, so that what is missing is not missed when a whole export comes later. Of the two, the one that says more
/// stays, whichever came first; what never was in the store needs no tombstone.
struct SideFileCopies {
  /// A sample of the store that is one with another.
  struct Copy {
    /// Its number.
    var change: Int64
    var uuid: UUID
    /// Whether it is the one that says less.
    var isBare: Bool
  }

  private static let routes = sql(link: "$.workout", content: "$.latitude")
  private static let records = sql(link: "$.identifier", content: "$.resource")

  private let route: UInt32?
  private let record: UInt32?

  /// - Parameter kinds: of the changes that are written.
  init(kinds: [String]) {
    route = kinds.firstIndex(of: "workoutRoute").map(UInt32.init)
    record = kinds.firstIndex(of: "clinicalRecord").map(UInt32.init)
  }

  /// Whether the sample is of a kind that has files, and from an export: an app's have all that there is.
  func concern(_ sample: CodedSample) -> Bool {
    (sample.kind == route || sample.kind == record) && sample.uuid.isDerived
  }

  /// What says more than `sample` if it has no content, and what says less if it has.
  ///
  /// - Parameter type: its row id.
  func find(_ sample: CodedSample, in changes: CodedChanges, type: Int64, _ db: Database) throws -> [Copy] {
    guard let payload = sample.payload else { return [] }
    let start = sample.start.microseconds
    var query = try Binding(db, sample.kind == route ? Self.routes : Self.records)
    query.bind(type)
    query.bind(start)
    query.bind(sample.end.microseconds &- start)
    query.bind(sample.created.map { $0.microseconds &- start })
    query.bind(changes.payloads[Int(payload)])
    var copies: [Copy] = []
    try query.rows(db) { row in
      let copy = Copy(change: row.integer(0), uuid: try row.uuid(1), isBare: row.integer(2) != 0)
      if copy.uuid.isDerived { copies.append(copy) }
      return true
    }
    return copies
  }

  /// - Parameters:
  ///   - link: where a payload says what it belongs to; those that say nothing belong to nothing.
  ///   - content: where it has what the file has.
  private static func sql(link: String, content: String) -> String {
    """
    SELECT change, uuid, CASE WHEN json_valid(payload) THEN json_type(payload, '\(content)') IS NULL END
    FROM sample
    WHERE type = ?1 AND start = ?2 AND duration = ?3 AND created IS ?4
      AND CASE WHEN json_valid(payload) AND json_valid(?5) THEN
        json_extract(payload, '\(link)') = json_extract(?5, '\(link)')
        AND (json_type(payload, '\(content)') IS NULL) <> (json_type(?5, '\(content)') IS NULL) END
    """
  }
}
