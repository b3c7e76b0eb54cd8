import Cryptography
import Foundation
import GRDB

/// The audit log as a hash chain: each row's hash covers the row and the previous hash.
enum AuditChain {
  /// A row as it is stored. Texts are bytes, because GRDB's texts end at the first NUL, and the rest must not change
  /// undetected.
  struct Link {
    var id: Int64
    var time: Int64
    var event: Data
    var detail: Data
    var hash: Data
    /// The hash of the previous event when this event was written.
    var previous: Data

    static let columns = "id, time, CAST(event AS BLOB), CAST(detail AS BLOB), hash, previous"

    init(_ row: Row) {
      (id, time, event, detail, hash, previous) = (row[0], row[1], row[2], row[3], row[4], row[5])
    }

    /// Returns whether this row is unchanged and was written as event `number`.
    func isEvent(_ number: Int64) -> Bool {
      AuditChain.hash(previous: previous, id: number, time: time, event: event, detail: detail) == hash
    }
  }

  /// Returns the SHA-256 hash of the previous hash and the row's fields, each text preceded by its length in bytes.
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

  /// The maximum length of a value in bytes. The names of all types fit.
  private static let longestValue = 16_384

  /// Appends an event, after the reads that were counted up to now.
  static func append(_ event: AuditEvent, _ db: Database) throws {
    try OpenReads.seal(db)
    try link(event, db)
  }

  /// Appends an event after the last event that was ever written, whatever row is in its place now. A log that was
  /// cut off, continued or recomputed by an attacker therefore stays recognisable.
  static func link(_ event: AuditEvent, _ db: Database) throws {
    let last = try AuditEnds.fetch(db).last
    var id = last.id + 1
    while try Bool.fetchOne(db, sql: "SELECT 1 FROM audit WHERE id = ?", arguments: [id]) != nil { id += 1 }
    // Peers and files supply some of the values.
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

/// The first and last event of the audit log, kept apart from its rows so that neither end can be cut off undetected.
struct AuditEnds {
  typealias End = (id: Int64, hash: Data)

  /// The last event that was pruned; its id is 0 if there is none.
  var pruned: End
  /// The last event that was written; its id is 0 if there is none.
  var last: End

  static func fetch(_ db: Database) throws -> AuditEnds {
    guard let row = try Row.fetchOne(db, sql: "SELECT prunedID, prunedHash, lastID, lastHash FROM auditEnds") else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the audit log has no ends")
    }
    let ends = AuditEnds(pruned: (row[0], row[1]), last: (row[2], row[3]))
    // Computations with them must not overflow, even in a crafted store.
    guard ends.pruned.id >= 0, ends.last.id >= ends.pruned.id, ends.last.id < 1 << 60 else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the ends of the audit log make no sense")
    }
    return ends
  }
}
