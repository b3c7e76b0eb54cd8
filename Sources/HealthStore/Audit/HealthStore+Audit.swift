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

  /// Appends what a peer has read, or is about to be sent, in the transaction in which that still holds: throws
  /// ``StoreError/anchorOutOfRange`` where `position` is not, or no longer, one of this store.
  ///
  /// - Parameters:
  ///   - position: up to where the peer reads; `nil` where it is too late to refuse.
  ///   - anchor: up to where it has read anything; `nil` if that was nothing.
  public func record(
    _ event: AuditEvent, at position: (anchor: Anchor, epoch: Epoch)?, read anchor: Anchor?
  ) async throws(StoreError) {
    try await write { db in
      if let position {
        let counter = try Int64.fetchOne(db, sql: "SELECT counter FROM store") ?? 0
        guard position.anchor.change <= counter, try Epoch.covering(position.anchor.change, db) == position.epoch else {
          throw StoreError.anchorOutOfRange
        }
      }
      try AuditChain.append(event, db)
      if let anchor { try UndoJournal.forget(upTo: anchor, db) }
    }
  }

  /// Records after `id`, oldest first.
  public func auditRecords(
    after id: Int64 = 0, since: Timestamp? = nil, limit: Int = 10_000
  ) async throws(StoreError) -> [AuditRecord] {
    try await read { db in
      try Row.fetchAll(
        db, sql: "SELECT \(AuditRecord.columns) FROM audit WHERE id > ? AND time >= ? ORDER BY id LIMIT ?",
        arguments: [id, since?.microseconds ?? .min, limit]
      ).map(AuditRecord.init)
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

extension AuditRecord {
  static let columns = "id, time, event, detail"

  /// From a row of ``columns``.
  init(_ row: Row) throws {
    self.init(
      id: row[0], time: Timestamp(microseconds: row[1]), event: row[2],
      detail: try StoreJSON.decode([String: String].self, row[3]))
  }

  /// Those of some names after `id`, oldest first.
  static func fetch(_ db: Database, after id: Int64, names: [AuditEvent.Name]) throws -> [AuditRecord] {
    let marks = Array(repeating: "?", count: names.count).joined(separator: ",")
    return try Row.fetchAll(
      db, sql: "SELECT \(columns) FROM audit WHERE id > ? AND event IN (\(marks)) ORDER BY id",
      arguments: StatementArguments([id]) + StatementArguments(names.map(\.rawValue))
    ).map(AuditRecord.init)
  }
}
