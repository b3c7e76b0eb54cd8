import GRDB
import HealthModel
import SQLiteFiles

/// The current tables of `peers.sqlite`. Dates are microseconds since 1970 in UTC; IDs are lower-case hexadecimal.
enum PeerSchema {
  private static let first = "0.9.0"
  /// The migrations of the last development version before that (commit 2853c503), whose tables are the same. Older
  /// versions were never published.
  private static let earlier: Set = [
    "1", "2", "persons", "certificates", "scopeEnd", "scopeSources", "onlyDaily", "serving", "restoration", "machines",
    "inbox",
  ]

  /// Throws ``PeerRegistryError/newerSchema(path:)`` for a newer schema, `failed` for one that is too old, and
  /// `damaged` if the file contains foreign triggers or views, which would run with hpeer's own statements.
  static func requireKnown(_ db: Database, path: String) throws {
    let applied = try applied(db)
    if !applied.isSubset(of: earlier) {
      if try migrator.hasBeenSuperseded(db) { throw PeerRegistryError.newerSchema(path: path) }
    } else if !applied.isEmpty, applied != earlier {
      throw PeerRegistryError.failed(
        path: path, reason: "a development version of hpeer wrote it that is too old; open it with commit 2853c503 once"
      )
    }
    if let name = try ForeignObjects.first(in: db, known: []) {
      throw PeerRegistryError.damaged(path: path, reason: "somebody has put \(name.shortened(toBytes: 100)) into it")
    }
    if try migrator.hasCompletedMigrations(db) { try requireOwnTables(db, path: path) }
  }

  /// Throws ``PeerRegistryError/damaged(path:reason:)`` for a registry of this version whose tables differ from this
  /// version's.
  private static func requireOwnTables(_ db: Database, path: String) throws {
    guard let name = try DatabaseShape(db).firstDifference(from: ownShape.get()) else { return }
    throw PeerRegistryError.damaged(
      path: path,
      reason: "another program has changed, added or removed the table or index \(name.shortened(toBytes: 100))")
  }

  /// The tables of this version.
  private static let ownShape: Result<DatabaseShape, any Error> = Result {
    let queue = try DatabaseQueue()
    try migrator.migrate(queue)
    return try queue.read { db in try DatabaseShape(db) }
  }

  static func migrate(_ writer: any DatabaseWriter) throws {
    // Usually there is nothing to migrate, and this check does not wait for the write lock.
    guard try !writer.read(migrator.hasCompletedMigrations) else { return }
    try writer.write { db in
      guard try applied(db) == earlier else { return }
      try db.execute(sql: "DELETE FROM grdb_migrations")
      try db.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [first])
    }
    try migrator.migrate(writer)
  }

  private static func applied(_ db: Database) throws -> Set<String> {
    guard try db.tableExists("grdb_migrations") else { return [] }
    return try String.fetchSet(db, sql: "SELECT identifier FROM grdb_migrations")
  }

  /// The migrations in order. A published migration is never edited.
  private static let migrator: DatabaseMigrator = {
    var migrator = DatabaseMigrator()
    migrator.registerMigration(first) { db in try db.execute(sql: tables) }
    // dailyZone: the time zone of the days of a client restricted to daily values. NULL until its first answer.
    migrator.registerMigration("dailyZone") { db in try db.execute(sql: "ALTER TABLE client ADD COLUMN dailyZone TEXT")
    }
    return migrator
  }()

  private static let tables = """
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
      isBound INTEGER NOT NULL,     -- 1: the token needs that certificate
      lifetime INTEGER NOT NULL DEFAULT 2592000,  -- in seconds: for how long each use makes the token valid
      formerID TEXT,                -- what the client was called before, in older events of the audit log
      rotated INTEGER,              -- when its certificate was replaced last
      scopeEnd INTEGER,             -- samples that start then or later are withheld; NULL: no limit
      sources TEXT,                 -- JSON array of names of sources; NULL: all
      onlyDaily INTEGER NOT NULL DEFAULT 0  -- 1: it may ask for numbers of days, and for nothing finer
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

    -- What clients have claimed to be compared with this machine's person, by pairing; what is agreed on with servers.
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

    -- A row while no client is answered.
    CREATE TABLE servingLock (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      since INTEGER NOT NULL
    ) STRICT;

    -- A row after this machine was put back from a backup, until those of restorationPeer have been asked.
    CREATE TABLE restoration (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      made INTEGER NOT NULL,        -- when the backup was
      wasLocked INTEGER NOT NULL    -- 1: by its owner, who alone unlocks it
    ) STRICT;
    CREATE TABLE restorationPeer (
      id TEXT PRIMARY KEY NOT NULL,
      isServer INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Machines by their marks, the one that was met last with the highest turn; and identities that two use.
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

    -- Apps that send by themselves; what each has sent of late, with the answer; and the names that it has brought.
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
    """
}
