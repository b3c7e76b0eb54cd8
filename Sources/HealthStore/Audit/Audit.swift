import GRDB
import HealthModel

extension HealthStore {
  /// The audit log: who did what with the record, and when.
  public struct Audit: Sendable {
    let store: HealthStore
  }

  /// The audit log: who did what with the record, and when.
  public var audit: Audit { Audit(store: self) }
}

extension HealthStore.Audit {
  /// Appends an event to the audit log. An event's hash covers the event and the previous hash, so that no event can
  /// change undetected.
  ///
  /// On a full disk, the event uses space that was reserved for it.
  public func record(_ event: AuditEvent) async throws(StoreError) {
    try await store.withReserve { () async throws(StoreError) in
      try await store.write { db in try AuditChain.append(event, db) }
    }
  }

  /// Records what a peer has read, or is about to receive, in the transaction that checks its position. Throws
  /// ``StoreError/anchorOutOfRange`` if `position` is not, or no longer, a position of this store.
  ///
  /// The first read of a peer and kind within a minute is appended. Later reads are counted, with the same
  /// durability, and appended as one event when the minute is over (``sealReads(overAt:)``), before any other event
  /// than reads, or with the first read after the minute.
  ///
  /// - Parameters:
  ///   - position: the position up to which the peer reads, or `nil` if it is too late to refuse or no position is
  ///     involved.
  ///   - anchor: the position up to which the peer has read any data, or `nil` if it has read none.
  public func record(
    _ read: AuditRead, at position: (anchor: Anchor, epoch: Epoch)? = nil, read anchor: Anchor? = nil
  ) async throws(StoreError) {
    try await store.withReserve { () async throws(StoreError) in
      try await store.write { db in
        if let position, try !position.epoch.covers(position.anchor.change, db) { throw StoreError.anchorOutOfRange }
        try OpenReads.add(read, db)
        if let anchor { try UndoJournal.forget(upTo: anchor, db) }
      }
    }
  }

  /// Appends the counted reads of minutes that are over, one event per peer and kind.
  public func sealReads(overAt moment: AuditRead.Moment) async throws(StoreError) {
    try await store.write { db in try OpenReads.sealOver(at: moment, db) }
  }

  /// Returns records after `id`, oldest first.
  public func records(
    after id: Int64 = 0, since: Timestamp? = nil, limit: Int = 10_000
  ) async throws(StoreError) -> [AuditRecord] {
    try await store.read { db in try AuditRecord.fetch(db, after: id, since: since, limit: limit) }
  }

  /// Returns the newest records of one kind of event since a time, oldest first.
  public func latest(
    _ name: AuditEvent.Name, since: Timestamp, limit: Int
  ) async throws(StoreError) -> [AuditRecord] {
    try await store.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT \(AuditRecord.columns) FROM audit WHERE event = ? AND time >= ? ORDER BY id DESC LIMIT ?
          """, arguments: [name.rawValue, since.microseconds, limit]
      ).reversed().map(AuditRecord.init)
    }
  }

  /// Returns a part of the log and the counted reads that are not in it yet, from one consistent read.
  ///
  /// - Returns: `records` as in ``records(after:since:limit:)``, and `open` with the reads in the current minute, one
  ///   record per peer and kind with the number 0.
  public func log(
    after id: Int64 = 0, since: Timestamp? = nil, limit: Int = 10_000
  ) async throws(StoreError) -> (records: [AuditRecord], open: [AuditRecord]) {
    try await store.read { db in
      (
        try AuditRecord.fetch(db, after: id, since: since, limit: limit),
        try OpenReads.records(db).filter { $0.time >= since ?? Timestamp(microseconds: .min) }
      )
    }
  }

  /// Verifies the whole chain, from the first event that was not pruned to the last that was ever written, and
  /// returns the events that are not as written.
  ///
  /// Also checks the counted reads that are not in the chain yet. Detects edited rows and, if a part was recomputed,
  /// its last event. Does not detect an attacker who may write the file, knows the format, and recomputes all hashes
  /// from the removed event to the end, and the end in `auditEnds` too. To rule that out, save the last event's hash
  /// elsewhere.
  public func verify() async throws(StoreError) -> AuditVerification {
    try await store.read { db in try AuditVerifier.verify(db) }
  }
}

extension AuditRecord {
  static let columns = "id, time, event, detail"

  /// Creates a record from a row of ``columns``.
  init(_ row: Row) throws {
    self.init(
      id: row[0], time: Timestamp(microseconds: row[1]), event: row[2],
      detail: try StoreJSON.decode([String: String].self, row[3]))
  }

  static func fetch(_ db: Database, after id: Int64, since: Timestamp?, limit: Int) throws -> [AuditRecord] {
    try Row.fetchAll(
      db, sql: "SELECT \(columns) FROM audit WHERE id > ? AND time >= ? ORDER BY id LIMIT ?",
      arguments: [id, since?.microseconds ?? .min, limit]
    ).map(AuditRecord.init)
  }

  /// Returns the records with some event names after `id`, oldest first.
  static func fetch(_ db: Database, after id: Int64, names: [AuditEvent.Name]) throws -> [AuditRecord] {
    let marks = Array(repeating: "?", count: names.count).joined(separator: ",")
    return try Row.fetchAll(
      db, sql: "SELECT \(columns) FROM audit WHERE id > ? AND event IN (\(marks)) ORDER BY id",
      arguments: StatementArguments([id]) + StatementArguments(names.map(\.rawValue))
    ).map(AuditRecord.init)
  }
}
