import Foundation
import GRDB
import HealthModel

/// The result of ``HealthStore/Audit/prune(olderThan:clock:dryRun:now:)``.
public enum AuditPruning: Hashable, Sendable {
  /// No event is old enough.
  case nothing
  /// Old events were removed.
  ///
  /// - Parameter upTo: the time of the newest removed event.
  case removed(count: Int, upTo: Timestamp)
  /// The clock may be wrong, so that no event was removed.
  case clockInDoubt
  /// The log was tampered with, and the evidence must stay, so that no event was removed.
  case damaged([AuditDamage])
}

/// The trust in this machine's clock when events are pruned.
public enum PruningClock: Sendable {
  /// Pruning only if the log confirms the clock: no event is later than now, and in the last thirty days of the log
  /// no gap between events, or between the last event and now, exceeds thirty days. A clock that has jumped ahead is
  /// believed only after thirty days of events.
  case mustBePlausible
  /// Pruning in any case. A person has requested it and is responsible for the clock.
  case isTrusted
}

extension HealthStore.Audit {
  /// Removes the oldest events, up to the first that is not older than `age`, and records that.
  ///
  /// The remaining events can still be verified: the number and hash of the last removed event are saved, and
  /// repeated in the `audit.pruned` event, which the chain covers. An event that a wrong clock dated in the future
  /// keeps all later events until that time.
  ///
  /// - Parameter age: the age in seconds.
  public func prune(
    olderThan age: Int64, clock: PruningClock = .mustBePlausible, dryRun: Bool = false, now: Timestamp? = nil
  ) async throws(StoreError) -> AuditPruning {
    try await store.write { db in
      // Inside the transaction, because another process could otherwise write an event later than now.
      let now = now ?? .now
      let cutoff = Timestamp(microseconds: now.microseconds - age * 1_000_000)
      let first = try Int64.fetchOne(
        db, sql: "SELECT MIN(id) FROM audit WHERE time >= ?", arguments: [cutoff.microseconds])
      guard
        let last = try Row.fetchOne(
          db, sql: "SELECT id, time, hash FROM audit WHERE id < ? ORDER BY id DESC LIMIT 1",
          arguments: [first ?? .max])
      else { return .nothing }
      if clock == .mustBePlausible, try !Self.isPlausible(now, db) { return .clockInDoubt }
      if case .broken(let damage) = try AuditVerifier.verify(db) { return .damaged(damage) }
      let id: Int64 = last["id"]
      let from = try AuditEnds.fetch(db).pruned.id + 1
      let result = AuditPruning.removed(count: Int(id - from + 1), upTo: Timestamp(microseconds: last["time"]))
      if dryRun { return result }
      let hash: Data = last["hash"]
      try db.execute(sql: "DELETE FROM audit WHERE id <= ?", arguments: [id])
      try db.execute(
        sql: "UPDATE auditEnds SET prunedID = ?, prunedHash = ?, prunedAt = ?", arguments: [id, hash, now.microseconds])
      try AuditChain.append(
        AuditEvent(
          .auditPruned,
          ["from": String(from), "to": String(id), "hash": RadixCoding.hex.encode(hash), "before": cutoff.iso8601],
          time: now),
        db)
      return result
    }
  }

  /// The maximum gap between events, in microseconds.
  private static let longestGap: Int64 = 30 * 86_400 * 1_000_000

  private static func isPlausible(_ now: Timestamp, _ db: Database) throws -> Bool {
    var later = now.microseconds
    let times = try Int64.fetchCursor(db, sql: "SELECT time FROM audit ORDER BY id DESC")
    while let time = try times.next() {
      guard time <= now.microseconds, later - time <= longestGap else { return false }
      later = time
      if now.microseconds - time >= longestGap { break }
    }
    return true
  }
}
