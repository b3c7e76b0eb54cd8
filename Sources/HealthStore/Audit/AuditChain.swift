import Cryptography
import Foundation
import GRDB

/// The audit log as a chain: each row's hash covers the row and the hash before it.
enum AuditChain {
  /// A row as it is stored. Texts are bytes: GRDB's end at the first NUL, and what follows one must not change unseen.
  struct Link {
    var id: Int64
    var time: Int64
    var event: Data
    var detail: Data
    var hash: Data
    /// The hash of the event before, as it was when this one was written.
    var previous: Data

    static let columns = "id, time, CAST(event AS BLOB), CAST(detail AS BLOB), hash, previous"

    init(_ row: Row) {
      (id, time, event, detail, hash, previous) = (row[0], row[1], row[2], row[3], row[4], row[5])
    }

    /// Whether this row is what was written as event `number`.
    func isEvent(_ number: Int64) -> Bool {
      AuditChain.hash(previous: previous, id: number, time: time, event: event, detail: detail) == hash
    }
  }

  /// SHA-256 over the hash before and the row's fields, each text preceded by its length in bytes.
  static func hash(previous: Data, id: Int64, time: Int64, event: Data, detail: Data) -> Data {
    var hasher = SHA256()
    hasher.update(data: previous)
    for number in [id, time, Int64(event.count)] {
      withUnsafeBytes(of: number.bigEndian) { hasher.update(bufferPointer: $0) }
    }
    hasher.update(data: event)
    withUnsafeBytes(of: Int64(detail.count).bigEndian) { hasher.update(bufferPointer: $0) }
    hasher.update(data: detail)
    return Data(hasher.finalize())
  }

  /// In bytes: all types by their names have room.
  private static let longestValue = 16_384

  /// Appends an event, and before it the reads that were counted up to now.
  static func append(_ event: AuditEvent, _ db: Database) throws {
    try OpenReads.seal(db)
    try link(event, db)
  }

  /// Appends after the last event that was ever written, whatever stands in its place now: a log that was cut off, went
  /// on or was computed anew by somebody else stays recognisable.
  static func link(_ event: AuditEvent, _ db: Database) throws {
    let last = try AuditEnds.fetch(db).last
    var id = last.id + 1
    while try Bool.fetchOne(db, sql: "SELECT 1 FROM audit WHERE id = ?", arguments: [id]) != nil { id += 1 }
    // Some of it others have said.
    let detail = try StoreJSON.encode(event.detail.mapValues { $0.shortened(toBytes: longestValue) })
    let hash = hash(
      previous: last.hash, id: id, time: event.time.microseconds, event: Data(event.name.rawValue.utf8),
      detail: Data(detail.utf8))
    try db.execute(
      sql: "INSERT INTO audit(id, time, event, detail, hash, previous) VALUES (?, ?, ?, ?, ?, ?)",
      arguments: [id, event.time.microseconds, event.name.rawValue, detail, hash, last.hash])
    try db.execute(sql: "UPDATE auditEnds SET lastID = ?, lastHash = ?", arguments: [id, hash])
  }
}

/// Where the audit log begins and ends, kept apart from its rows so that neither end can be cut off unseen.
struct AuditEnds {
  typealias End = (id: Int64, hash: Data)

  /// The last event that was removed because of its age; 0 if none was.
  var pruned: End
  /// The last event that was written; 0 if none was.
  var last: End

  static func fetch(_ db: Database) throws -> AuditEnds {
    guard let row = try Row.fetchOne(db, sql: "SELECT prunedID, prunedHash, lastID, lastHash FROM auditEnds") else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the audit log has no ends")
    }
    let ends = AuditEnds(pruned: (row[0], row[1]), last: (row[2], row[3]))
    // What is computed from them must not overflow, whoever wrote them.
    guard ends.pruned.id >= 0, ends.last.id >= ends.pruned.id, ends.last.id < 1 << 60 else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the ends of the audit log make no sense")
    }
    return ends
  }
}
