import Foundation
import GRDB
import HealthModel
import PeerProtocol

/// The tables of `peers.sqlite`. Dates are microseconds since 1970 in UTC; IDs are lower-case hexadecimal.
///
/// A migration that has been released is never edited; append another.
enum PeerSchema {
  static let migrator: DatabaseMigrator = {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(
        sql: """
          CREATE TABLE client (
            id TEXT PRIMARY KEY NOT NULL,
            name TEXT NOT NULL,
            tokenHash BLOB NOT NULL UNIQUE,
            method TEXT NOT NULL,         -- how it paired: spake2 or plain
            types TEXT,                   -- JSON array of HealthKit identifiers; NULL: all
            earliest INTEGER,             -- NULL: no limit
            created INTEGER NOT NULL,
            lastSeen INTEGER,
            expires INTEGER NOT NULL,
            revoked INTEGER,
            certificate BLOB,             -- SHA-256 of the client's certificate
            isBound INTEGER NOT NULL      -- 1: the token needs that certificate
          ) STRICT;
          CREATE TABLE server (
            id TEXT PRIMARY KEY NOT NULL,
            name TEXT NOT NULL,
            fingerprint BLOB NOT NULL,
            credential TEXT NOT NULL,     -- secret
            dialect TEXT NOT NULL,
            host TEXT,
            port INTEGER,
            created INTEGER NOT NULL,
            lastUsed INTEGER,
            expires INTEGER
          ) STRICT;
          """)
    }
    migrator.registerMigration("2") { db in
      // In seconds: for how long each use makes the token valid.
      try db.execute(sql: "ALTER TABLE client ADD COLUMN lifetime INTEGER NOT NULL DEFAULT 2592000")
    }
    migrator.registerMigration("persons") { db in
      // What clients have claimed to be compared with this machine's person, by pairing; what is agreed on with servers.
      try db.execute(
        sql: """
          CREATE TABLE personClaim (
            tokenHash BLOB NOT NULL,
            claim BLOB NOT NULL,          -- its digest
            PRIMARY KEY (tokenHash, claim)
          ) STRICT, WITHOUT ROWID;
          CREATE TABLE personAgreement (
            server TEXT PRIMARY KEY NOT NULL,
            claim BLOB NOT NULL,
            mark TEXT
          ) STRICT;
          """)
    }
    migrator.registerMigration("certificates") { db in
      // What the client was called before, in older events of the audit log.
      try db.execute(sql: "ALTER TABLE client ADD COLUMN formerID TEXT")
      // When its certificate was replaced last.
      try db.execute(sql: "ALTER TABLE client ADD COLUMN rotated INTEGER")
      try PeerSchema.nameClientsByCertificate(db)
    }
    migrator.registerMigration("scopeEnd") { db in
      // Samples that start then or later are withheld, in microseconds; NULL: no limit.
      try db.execute(sql: "ALTER TABLE client ADD COLUMN scopeEnd INTEGER")
    }
    migrator.registerMigration("scopeSources") { db in
      // A JSON array of names of sources; NULL: all.
      try db.execute(sql: "ALTER TABLE client ADD COLUMN sources TEXT")
    }
    migrator.registerMigration("onlyDaily") { db in
      // 1: it may ask for numbers of days, and for nothing finer.
      try db.execute(sql: "ALTER TABLE client ADD COLUMN onlyDaily INTEGER NOT NULL DEFAULT 0")
    }
    migrator.registerMigration("serving") { db in
      // A row while no client is answered.
      try db.execute(
        sql: """
          CREATE TABLE servingLock (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            since INTEGER NOT NULL        -- in microseconds since 1970
          ) STRICT
          """)
    }
    migrator.registerMigration("restoration") { db in
      // A row after this machine was put back from a backup, until those of restorationPeer have been asked.
      try db.execute(
        sql: """
          CREATE TABLE restoration (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            made INTEGER NOT NULL,        -- when the backup was, in microseconds since 1970
            wasLocked INTEGER NOT NULL    -- 1: by its owner, who alone unlocks it
          ) STRICT;
          CREATE TABLE restorationPeer (
            id TEXT PRIMARY KEY NOT NULL,
            isServer INTEGER NOT NULL
          ) STRICT, WITHOUT ROWID;
          """)
    }
    migrator.registerMigration("machines") { db in
      // Machines by their marks, the one that was met last with the highest turn; and identities that two use.
      try db.execute(
        sql: """
          CREATE TABLE machine (
            role TEXT NOT NULL,           -- client or server
            peer TEXT NOT NULL,
            mark TEXT NOT NULL,
            turn INTEGER NOT NULL,
            address TEXT NOT NULL,
            PRIMARY KEY (role, peer, mark)
          ) STRICT, WITHOUT ROWID;
          CREATE TABLE twin (
            role TEXT NOT NULL,
            peer TEXT NOT NULL,
            first TEXT NOT NULL,
            second TEXT NOT NULL,
            seen INTEGER NOT NULL,
            PRIMARY KEY (role, peer)
          ) STRICT, WITHOUT ROWID;
          """)
    }
    migrator.registerMigration("inbox") { db in
      // Apps that send by themselves; what each has sent of late, with the answer; and the names that it has brought.
      try db.execute(
        sql: """
          CREATE TABLE inboxSender (
            name TEXT PRIMARY KEY NOT NULL,
            secretHash BLOB NOT NULL UNIQUE,
            types TEXT,                   -- JSON array of types that it may send; NULL: all
            person TEXT NOT NULL,         -- JSON object: whose record it was when it was said that the phone is that person's
            created INTEGER NOT NULL,
            lastSeen INTEGER,
            revoked INTEGER
          ) STRICT;
          CREATE TABLE inboxBody (
            sender TEXT NOT NULL,
            hash BLOB NOT NULL,           -- SHA-256 of the body as it came
            received INTEGER NOT NULL,    -- first
            answer TEXT NOT NULL,         -- empty: not known any more, or not given yet
            PRIMARY KEY (sender, hash)
          ) STRICT, WITHOUT ROWID;
          CREATE TABLE inboxName (
            sender TEXT NOT NULL,
            name TEXT NOT NULL,           -- of a source, a type, a unit or a device
            PRIMARY KEY (sender, name)
          ) STRICT, WITHOUT ROWID;
          """)
    }
    return migrator
  }()

  /// Clients used to choose their ids; from here on it is the first half of the certificate's SHA-256. Rows of one
  /// certificate become one: the last that was paired, with what all of them might read.
  private static func nameClientsByCertificate(_ db: Database) throws {
    let rows = try Row.fetchAll(
      db, sql: "SELECT rowid, * FROM client WHERE length(certificate) = 32 ORDER BY created, rowid")
    for (certificate, rows) in Dictionary(grouping: rows, by: { $0["certificate"] as Data }) {
      guard let last = rows.last else { continue }
      if rows.count > 1 {
        let scopes = try rows.map(SampleFilter.init)
        let scope = scopes.dropFirst().reduce(scopes[0]) { $0.intersection($1) }
        try db.execute(
          sql: "UPDATE client SET types = ?, earliest = ? WHERE rowid = ?",
          arguments: [try scope.typesJSON(), scope.earliest?.microseconds, last["rowid"] as Int64])
        for row in rows.dropLast() {
          try db.execute(sql: "DELETE FROM client WHERE rowid = ?", arguments: [row["rowid"] as Int64])
        }
      }
      let id = RadixCoding.hex.encode(certificate.prefix(16))
      // An id that was chosen to be in the way.
      try db.execute(
        sql: "UPDATE client SET id = lower(hex(randomblob(16))) WHERE id = ? AND rowid != ?",
        arguments: [id, last["rowid"] as Int64])
      try db.execute(
        sql: "UPDATE client SET id = ?, formerID = ? WHERE rowid = ?",
        arguments: [id, last["id"] as String, last["rowid"] as Int64])
    }
    try db.execute(sql: "DELETE FROM personClaim WHERE tokenHash NOT IN (SELECT tokenHash FROM client)")
  }
}
