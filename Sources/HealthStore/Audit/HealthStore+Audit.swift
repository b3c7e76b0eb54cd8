import GRDB
import HealthModel

extension HealthStore {
  /// Appends to the audit log. A row's hash covers the row and the hash before it, so that no row can change unseen.
  public func record(_ event: AuditEvent) async throws(StoreError) {
    try await write { db in try AuditChain.append(event, db) }
  }

  /// Appends and waits. Blocking: for a thread of one's own.
  public func recordBlocking(_ event: AuditEvent) throws(StoreError) {
    do {
      try pool.write { db in try AuditChain.append(event, db) }
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

  /// Walks along the whole chain, from the first event that was not removed because of its age to the last that was
  /// ever written, and says which events are not what was written.
  ///
  /// Finds what somebody did who edits rows. Not found: somebody who may write the file, knows the format and computes
  /// all hashes anew from the event on that is to disappear, up to the end that is kept in `auditEnds`. Whoever must
  /// rule that out notes the last event's hash elsewhere.
  public func verifyAudit() async throws(StoreError) -> AuditVerification {
    try await read { db in try AuditVerifier.verify(db) }
  }
}
