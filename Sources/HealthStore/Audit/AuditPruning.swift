import Foundation
import GRDB
import HealthModel

/// What ``HealthStore/Audit/prune(olderThan:clock:dryRun:now:)`` did.
public enum AuditPruning: Hashable, Sendable {
  /// No event is old enough.
  case nothing
  /// - Parameter upTo: the time of the newest event that went.
  case removed(count: Int, upTo: Timestamp)
  /// Nothing was removed, because the clock may be wrong.
  case clockInDoubt
  /// Nothing was removed, because that would remove what shows that the log was tampered with.
  case damaged([AuditDamage])
}

/// Whether events are removed by the clock alone.
public enum PruningClock: Sendable {
  /// Only while the log bears the clock out: no event is later than now, and for the last thirty days of the log no
  /// two events, nor the last and now, are more than thirty days apart. A clock that leaps ahead is believed only when
  /// thirty days of events have followed the leap.
  case mustBePlausible
  /// Always: a person asked for it and answers for the clock.
  case isTrusted
}

extension HealthStore.Audit {
  /// Removes the oldest events, up to the first that is not older than `age`, and writes down that it did.
  ///
  /// What remains can still be verified: the number and hash of the last event that went are kept, and are said again
  /// by the `audit.pruned` event, which the chain covers. An event that a wrong clock dated in the future keeps those
  /// after it until then.
  ///
  /// - Parameter age: in seconds.
  public func prune(
    olderThan age: Int64, clock: PruningClock = .mustBePlausible, dryRun: Bool = false, now: Timestamp? = nil
  ) async throws(StoreError) -> AuditPruning {
    try await store.write { db in
      // Taken inside the transaction, or an event that others write meanwhile would be later than now.
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

  /// In microseconds.
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
