import Foundation
import GRDB

/// A machine that its owner has locked answers no client, until the owner unlocks it there. Clients stay paired.
extension PeerRegistry {
  /// Since when it is locked; `nil` where it is not.
  public func lockedSince() async throws -> Date? { try await read(Self.lockedSince) }

  /// Locks it: takes effect with the next page of every answer, whichever process gives it.
  ///
  /// - Returns: false where it was locked before.
  public func lock(now: Date = Date()) async throws -> Bool {
    try await write { db in
      try db.execute(sql: "INSERT OR IGNORE INTO servingLock(id, since) VALUES (1, ?)", arguments: [now.microseconds])
      let isNew = db.changesCount > 0
      // Whom a restored machine waits for does not unlock it then.
      try db.execute(sql: "UPDATE restoration SET wasLocked = 1")
      return isNew
    }
  }

  /// Unlocks it, also where it waits because it was restored (``Restoration``).
  ///
  /// - Returns: false where it was not locked.
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
