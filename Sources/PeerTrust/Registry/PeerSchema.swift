import GRDB

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
    return migrator
  }()
}
