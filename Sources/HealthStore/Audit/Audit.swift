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
  /// Appends to the audit log. A row's hash covers the row and the hash before it, so that no row can change unseen.
  ///
  /// On a full disk it takes room that was kept for it.
  public func record(_ event: AuditEvent) async throws(StoreError) {
    try await store.withReserve { () async throws(StoreError) in
      try await store.write { db in try AuditChain.append(event, db) }
    }
  }

  /// Writes down what a peer has read, or is about to be sent, in the transaction in which that still holds: throws
  /// ``StoreError/anchorOutOfRange`` where `position` is not, or no longer, one of this store.
  ///
  /// The first read of a peer and kind within a minute is appended; later ones are counted, as durably, and appended as
  /// one event when the minute is over (``sealReads(overAt:)``), before any other event than reads, or when the next of
  /// them comes after it.
  ///
  /// - Parameters:
  ///   - position: up to where the peer reads; `nil` where it is too late to refuse, or nothing depends on it.
  ///   - anchor: up to where it has read anything; `nil` if that was nothing.
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

  /// Appends what is counted of minutes that are over, as one event for each peer and kind.
  public func sealReads(overAt moment: AuditRead.Moment) async throws(StoreError) {
    try await store.write { db in try OpenReads.sealOver(at: moment, db) }
  }

  /// Records after `id`, oldest first.
  public func records(
    after id: Int64 = 0, since: Timestamp? = nil, limit: Int = 10_000
  ) async throws(StoreError) -> [AuditRecord] {
    try await store.read { db in try AuditRecord.fetch(db, after: id, since: since, limit: limit) }
  }

  /// The newest records of one kind of event since then, oldest first.
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

  /// A part of the log, and what is counted of reads and not in it yet, at one moment.
  ///
  /// - Returns: `records` as ``records(after:since:limit:)`` has them; `open`, whose numbers are 0: what peers have
  ///   read in the minute that is running, one for each of them and kind.
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

  /// Walks along the whole chain, from the first event that was not removed because of its age to the last that was
  /// ever written, and says which events are not what was written.
  ///
  /// Also looks at what is counted of reads and not in the chain yet. Finds what somebody did who edits rows, and of a
  /// part that was computed anew the last event. Not found: somebody who may write the file, knows the format and
  /// computes all hashes anew from the event on that is to disappear, up to the end that is kept in `auditEnds`, and that
  /// end. Whoever must rule that out notes the last event's hash elsewhere.
  public func verify() async throws(StoreError) -> AuditVerification {
    try await store.read { db in try AuditVerifier.verify(db) }
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

  static func fetch(_ db: Database, after id: Int64, since: Timestamp?, limit: Int) throws -> [AuditRecord] {
    try Row.fetchAll(
      db, sql: "SELECT \(columns) FROM audit WHERE id > ? AND time >= ? ORDER BY id LIMIT ?",
      arguments: [id, since?.microseconds ?? .min, limit]
    ).map(AuditRecord.init)
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
