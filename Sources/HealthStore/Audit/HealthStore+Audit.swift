import Crypto
import Foundation
import GRDB
import HealthModel

extension HealthStore {
  /// Appends to the audit log. A row's hash covers the row and the hash before it, so that no row can change unseen.
  public func record(_ event: AuditEvent) async throws(StoreError) {
    try await write { db in try Self.record(event, db: db) }
  }

  /// Appends and waits. Blocking: for a thread of one's own.
  public func recordBlocking(_ event: AuditEvent) throws(StoreError) {
    do {
      try pool.write { db in try Self.record(event, db: db) }
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Records after `id`, oldest first.
  public func auditRecords(
    after id: Int64 = 0, since: Timestamp? = nil, limit: Int = 10_000
  ) async throws(StoreError) -> [AuditRecord] {
    try await read { db in
      try Row.fetchAll(
        db, sql: "SELECT id, time, event, detail FROM audit WHERE id > ? AND time >= ? ORDER BY id LIMIT ?",
        arguments: [id, since?.microseconds ?? .min, limit]
      ).map {
        AuditRecord(
          id: $0[0], time: Timestamp(microseconds: $0[1]), event: $0[2],
          detail: try StoreJSON.decode([String: String].self, $0[3]))
      }
    }
  }

  /// Walks the chain. Returns the number of rows, or the id of the first row that was changed, removed before or moved.
  public func verifyAudit() async throws(StoreError) -> AuditVerification {
    try await read { db in
      var previous = Data()
      var count = 0
      var expected: Int64 = 1
      // As blobs: GRDB's texts end at the first NUL, and what follows one must not change unseen either.
      let rows = try Row.fetchCursor(
        db, sql: "SELECT id, time, CAST(event AS BLOB), CAST(detail AS BLOB), hash FROM audit ORDER BY id")
      while let row = try rows.next() {
        let id: Int64 = row[0]
        let hash: Data = row[4]
        guard id == expected,
          hash == Self.hash(previous: previous, id: id, time: row[1], event: row[2], detail: row[3])
        else { return .broken(at: id) }
        previous = hash
        expected += 1
        count += 1
      }
      return .intact(rows: count)
    }
  }

  static func record(_ event: AuditEvent, db: Database) throws {
    let last = try Row.fetchOne(db, sql: "SELECT id, hash FROM audit ORDER BY id DESC LIMIT 1")
    let id = (last?["id"] as Int64? ?? 0) + 1
    let detail = try StoreJSON.encode(event.detail)
    let hash = hash(
      previous: last?["hash"] as Data? ?? Data(), id: id, time: event.time.microseconds,
      event: Data(event.name.rawValue.utf8), detail: Data(detail.utf8))
    try db.execute(
      sql: "INSERT INTO audit(id, time, event, detail, hash) VALUES (?, ?, ?, ?, ?)",
      arguments: [id, event.time.microseconds, event.name.rawValue, detail, hash])
  }

  /// SHA-256 over the hash before and the row's fields, each text preceded by its length in bytes.
  private static func hash(previous: Data, id: Int64, time: Int64, event: Data, detail: Data) -> Data {
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
}

/// What a walk along the audit log's chain found.
public enum AuditVerification: Hashable, Sendable {
  case intact(rows: Int)
  /// The row at this id, or one just before it, is not what was written.
  case broken(at: Int64)
}
