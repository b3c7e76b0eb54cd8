import Foundation
import GRDB

/// The owner's lock: a locked machine answers no client until its owner unlocks it there. Clients stay paired.
extension PeerRegistry {
  /// Returns the time at which the machine was locked, or `nil` if it is unlocked.
  public func lockedSince() async throws -> Date? { try await read(Self.lockedSince) }

  /// Locks the machine. Takes effect with the next page of every answer, whichever process gives it.
  ///
  /// - Returns: false if it was already locked.
  public func lock(now: Date = Date()) async throws -> Bool {
    try await write { db in
      try db.execute(sql: "INSERT OR IGNORE INTO servingLock(id, since) VALUES (1, ?)", arguments: [now.microseconds])
      let isNew = db.changesCount > 0
      // With an owner's lock in place, the end of a restoration must not unlock the machine.
      try db.execute(sql: "UPDATE restoration SET wasLocked = 1")
      return isNew
    }
  }

  /// Unlocks the machine, and ends a pending ``Restoration``.
  ///
  /// - Returns: false if it was not locked.
  public func unlock() async throws -> Bool {
    try await write { db in
      try db.execute(sql: "DELETE FROM restoration; DELETE FROM restorationPeer")
      try db.execute(sql: "DELETE FROM servingLock")
      return db.changesCount > 0
    }
  }

  static func lockedSince(_ db: Database) throws -> Date? {
    try Int64.fetchOne(db, sql: "SELECT since FROM servingLock").map(Date.init(microseconds:))
  }
}
