import Cryptography
import Foundation
import GRDB
import HealthModel
import OperatingSystem
import SQLiteFiles

/// The current tables of a store. ``EarlierSchema`` migrates the older tables to them.
enum Schema {
  /// Throws if a newer version migrated the database or another program made it. Runs on a read-only connection,
  /// because a pool writes as soon as it opens.
  static func requireKnown(path: String) throws {
    try finishRollback(path: path)
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(HealthStore.busyTimeout)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.read { db in try requireKnown(db, path: path) }
  }

  static func requireKnown(_ db: Database, path: String) throws {
    if try !EarlierSchema.isOf(db, path: path) {
      guard try !migrator().hasBeenSuperseded(db) else { throw StoreError.newerSchema(path: path) }
      let tables = try String.fetchSet(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
      guard tables.isEmpty || tables.contains("grdb_migrations") else {
        throw StoreError.corrupt(path: path, detail: "it is the database of another program")
      }
    }
    if let name = try ForeignObjects.first(in: db, known: triggers) {
      throw StoreError.corrupt(
        path: path,
        detail: "somebody has put \(name.shortened(toBytes: 100)) into it, which would run with all that hpeer does")
    }
    if try isCurrent(db) { try requireOwnTables(db, path: path) }
  }

  /// Throws ``StoreError/corrupt(path:detail:)`` for a store of this version whose tables are not those that it makes.
  private static func requireOwnTables(_ db: Database, path: String) throws {
    guard let name = try DatabaseShape(db).firstDifference(from: ownShape.get()) else { return }
    throw StoreError.corrupt(
      path: path,
      detail: "another program has changed, added or removed the table or index \(name.shortened(toBytes: 100))")
  }

  /// The tables that this version makes.
  private static let ownShape: Result<DatabaseShape, any Error> = Result {
    let queue = try DatabaseQueue()
    try migrator().migrate(queue)
    return try queue.read { db in try DatabaseShape(db) }
  }

  static func isCurrent(_ db: Database) throws -> Bool {
    try migrator().hasCompletedMigrations(db)
  }

  /// Rolls back an interrupted first transaction. A first run that was killed before the file had its write-ahead log
  /// leaves a rollback journal, and a read-only connection cannot read the file then. A writable connection rolls
  /// back with its first read.
  private static func finishRollback(path: String) throws {
    guard PrivateFile.exists(path + "-journal") else { return }
    var configuration = Configuration()
    configuration.busyMode = .timeout(HealthStore.busyTimeout)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.read { db in try db.execute(sql: "SELECT COUNT(*) FROM sqlite_master") }
  }

  static func migrate(_ pool: DatabasePool) throws {
    guard try !pool.read(isCurrent) else { return }
    try pool.write { db in
      guard try EarlierSchema.isOf(db, path: pool.path) else { return }
      try EarlierSchema.bringUpToDate(db)
      try db.execute(sql: "DELETE FROM grdb_migrations")
      try db.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [first])
    }
    try migrator().migrate(pool)
    try pool.read { db in try requireOwnTables(db, path: pool.path) }
  }

  /// The migrations in order. A published migration is never edited.
  private static func migrator() -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration(first, migrate: create)
    migrator.registerMigration("statements") { db in
      try db.execute(sql: statements)
      try EarlierReadings.rename(db)
      try EarlierTwins.state(db)
    }
    migrator.registerMigration("undoneRepetitions") { db in
      // `said` as it was before the import that can be undone; NULL where nothing was said again.
      try db.execute(sql: "CREATE TABLE undoRepetition(sample INTEGER PRIMARY KEY, said INTEGER) STRICT")
    }
    return migrator
  }

  private static let first = "0.9.0"

  static func storeID(_ db: Database) throws -> UUID {
    guard let bytes = try Data.fetchOne(db, sql: "SELECT id FROM store"), let id = UUID(bytes: bytes) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the store has no id")
    }
    return id
  }

  /// Returns the last change number that was assigned.
  static func counter(_ db: Database) throws -> Int64 {
    try Int64.fetchOne(db, sql: "SELECT counter FROM store") ?? 0
  }

  static func positionKey(_ db: Database) throws -> Data {
    guard let key = try Data.fetchOne(db, sql: "SELECT positionKey FROM store"), key.count == 32 else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the store has no key for positions")
    }
    return key
  }

  // MARK: Tables

  private static func create(_ db: Database) throws {
    for part in [samples, visibility, feed, imports, digests, audit, settings, deliveries, activities] {
      try db.execute(sql: part)
    }
    let id = UUID().bytes
    let key = SymmetricKey(size: 32).withUnsafeBytes { Data($0) }
    try db.execute(
      sql: "INSERT INTO store(id, counter, tombstoneFloor, positionKey) VALUES (?, 0, 0, ?)", arguments: [id, key])
    try Epoch.insert(.first(ofStore: id), at: 0, db)
  }

  /// The tables of samples and their dictionaries.
  ///
  /// Dates are microseconds since 1970. `duration` and `created` are wrapping differences from `start`, which keeps
  /// them short. `value` is NULL for NaN. `payload` and `metadata` are JSON. A sample's change number is its rowid,
  /// so that a page of the feed is one walk along the table. `road` is a ``SampleRoad``.
  ///
  /// In a row of `type`, `samples` counts all samples and `derived` those whose UUIDs are derived from their content.
  /// `roads` has a bit for each road by which the latter ever came.
  private static let samples = """
    CREATE TABLE store(
      id BLOB NOT NULL,
      counter INTEGER NOT NULL,
      tombstoneFloor INTEGER NOT NULL,
      positionKey BLOB
    ) STRICT;
    CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE type(
      id INTEGER PRIMARY KEY,
      identifier TEXT NOT NULL UNIQUE,
      samples INTEGER NOT NULL,
      derived INTEGER NOT NULL DEFAULT 0,
      roads INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE unit(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE source(id INTEGER PRIMARY KEY, json TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE device(id INTEGER PRIMARY KEY, json TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE sample(
      change INTEGER PRIMARY KEY,
      type INTEGER NOT NULL REFERENCES type,
      start INTEGER NOT NULL,
      uuid BLOB NOT NULL,
      duration INTEGER NOT NULL,
      created INTEGER,
      source INTEGER NOT NULL REFERENCES source,
      device INTEGER REFERENCES device,
      kind INTEGER NOT NULL REFERENCES kind,
      value REAL,
      unit INTEGER REFERENCES unit,
      payload TEXT,
      metadata TEXT,
      road INTEGER NOT NULL DEFAULT 1
    ) STRICT;
    CREATE UNIQUE INDEX sample_identity ON sample(type, start, uuid);
    """

  /// The table that ``Visibility`` maintains. `number` is the change number at which a sample was hidden or shown
  /// again, or NULL for a sample that was hidden from the beginning. Foreign keys are not enforced (``HealthStore``),
  /// so a trigger deletes the row of a deleted sample.
  static let visibility = """
    CREATE TABLE visibility(
      sample INTEGER PRIMARY KEY REFERENCES sample,
      type INTEGER NOT NULL,
      isHidden INTEGER NOT NULL,
      number INTEGER,
      time INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX visibility_number ON visibility(number) WHERE number IS NOT NULL;
    CREATE INDEX visibility_hidden ON visibility(type) WHERE isHidden;
    \(triggers[0]);
    """

  /// All triggers of a store.
  private static let triggers = [
    """
    CREATE TRIGGER visibility_goes AFTER DELETE ON sample BEGIN
      DELETE FROM visibility WHERE sample = old.change;
    END
    """,
    """
    CREATE TRIGGER repetition_goes AFTER DELETE ON sample BEGIN
      DELETE FROM repetition WHERE sample = old.change;
    END
    """,
  ]

  /// The migration for key statements. `statement` holds the bytes of a ``KeyStatement``, in rows whose key has, or
  /// had, other records. `said` is in microseconds since 1970; see ``Repetition`` and ``StatedRanges``.
  private static let statements = """
    ALTER TABLE sample ADD COLUMN statement BLOB;
    ALTER TABLE undoSample ADD COLUMN statement BLOB;
    ALTER TABLE tombstone ADD COLUMN statement BLOB;
    CREATE INDEX sample_statement ON sample(type, start) WHERE statement IS NOT NULL;
    CREATE TABLE statedRange(first INTEGER PRIMARY KEY, last INTEGER NOT NULL UNIQUE, said INTEGER NOT NULL) STRICT;
    CREATE INDEX tombstone_statement ON tombstone(type, start) WHERE statement IS NOT NULL;
    CREATE TABLE repetition(sample INTEGER PRIMARY KEY REFERENCES sample, said INTEGER NOT NULL) STRICT;
    \(triggers[1]);
    """

  /// The tables of the change feed.
  ///
  /// A tombstone has a `duration` if a sample was really deleted, and a `hint` for a quantity (``ValueHint``). A
  /// tombstone without a `duration` only keeps an identity away. `source` is the sample's source, if the sample was
  /// here or its deletion came with it. `replaced` is the UUID of the sample that replaced this one.
  ///
  /// An epoch's `first` is the first change number that it covers; the next epoch ends it.
  ///
  /// `consumer.state` is a ``ConsumerState`` as JSON; `position` and `undone` are parts of it. `undoneSample` has the
  /// samples that were removed without a tombstone, for consumers that may have them.
  private static let feed = """
    CREATE TABLE tombstone(
      change INTEGER PRIMARY KEY,
      type INTEGER NOT NULL REFERENCES type,
      start INTEGER NOT NULL,
      uuid BLOB NOT NULL,
      deleted INTEGER NOT NULL,
      replaced BLOB,
      duration INTEGER,
      source INTEGER REFERENCES source,
      road INTEGER NOT NULL DEFAULT 0,
      hint INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX tombstone_identity ON tombstone(type, start, uuid);
    CREATE TABLE epoch(first INTEGER PRIMARY KEY, id BLOB NOT NULL) STRICT;
    CREATE TABLE position(
      consumer TEXT PRIMARY KEY,
      token TEXT NOT NULL,
      updated INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE consumer(
      name TEXT PRIMARY KEY,
      revision INTEGER NOT NULL,
      position INTEGER NOT NULL,
      undone INTEGER NOT NULL,
      state TEXT NOT NULL,
      updated INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE undoneSample(
      number INTEGER PRIMARY KEY,
      type TEXT NOT NULL,
      start INTEGER NOT NULL,
      uuid BLOB NOT NULL,
      deleted INTEGER NOT NULL
    ) STRICT;
    """

  /// The tables of imports.
  ///
  /// `importedRange` has the change numbers of the samples that exports contained. `twin` has the keys that several
  /// of those samples share. `import.confirmedPerson` is a keyed hash of the person of an import that a user
  /// confirmed although that person contradicts the store's.
  ///
  /// `undo` has at most one row: the last import, and the state of the store before it. The samples that the import
  /// added are found by their numbers, from `first` (excluded) on. Only the samples that it deleted are kept, and the
  /// previous values of the aliases that it changed: `identity` is NULL for a new alias. Aliases are pending until
  /// their import begins.
  private static let imports = """
    CREATE TABLE import(
      id INTEGER PRIMARY KEY,
      started INTEGER NOT NULL,
      finished INTEGER,
      name TEXT NOT NULL,
      digest BLOB,
      exported INTEGER,
      person BLOB,
      isComplete INTEGER NOT NULL,
      isSnapshot INTEGER NOT NULL,
      confirmedPerson BLOB
    ) STRICT;
    CREATE TABLE importedRange(first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
    CREATE TABLE sourceAlias(name TEXT PRIMARY KEY, identity TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE twin(key TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE undo(
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      started INTEGER NOT NULL,
      import INTEGER,
      first INTEGER NOT NULL,
      last INTEGER NOT NULL,
      isAlone INTEGER NOT NULL,
      isKept INTEGER NOT NULL,
      tombstoneFloor INTEGER NOT NULL,
      event INTEGER NOT NULL,
      type INTEGER NOT NULL,
      unit INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      source INTEGER NOT NULL,
      device INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE undoSample(
      change INTEGER PRIMARY KEY,
      type INTEGER NOT NULL,
      start INTEGER NOT NULL,
      uuid BLOB NOT NULL,
      duration INTEGER NOT NULL,
      created INTEGER,
      source INTEGER NOT NULL,
      device INTEGER,
      kind INTEGER NOT NULL,
      value REAL,
      unit INTEGER,
      payload TEXT,
      metadata TEXT,
      road INTEGER NOT NULL DEFAULT 1
    ) STRICT;
    CREATE TABLE undoRange(first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
    CREATE TABLE undoPosition(consumer TEXT PRIMARY KEY, token TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE undoTwin(key TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE undoAlias(
      isPending INTEGER NOT NULL,
      name TEXT NOT NULL,
      identity TEXT,
      PRIMARY KEY(isPending, name)
    ) STRICT, WITHOUT ROWID;
    """

  /// The tables of digests. `month` counts from January 1970; sums are 16 bytes, big-endian. All rows cover the
  /// changes up to `digestPosition.change`.
  private static let digests = """
    CREATE TABLE monthDigest(
      type INTEGER NOT NULL REFERENCES type,
      month INTEGER NOT NULL,
      samples INTEGER NOT NULL,
      sampleSum BLOB NOT NULL,
      tombstones INTEGER NOT NULL,
      tombstoneSum BLOB NOT NULL,
      PRIMARY KEY(type, month)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE digestPosition(change INTEGER NOT NULL, tombstoneFloor INTEGER NOT NULL) STRICT;
    INSERT INTO digestPosition VALUES (0, 0);
    """

  /// The tables of the audit log. `previous` is the hash of the previous event. `auditEnds` has one row: the last
  /// event that was removed because of its age, and the last that was written. `auditRead` has the reads that are
  /// counted but not in the chain yet, and `auditEnds.readsHash` the exclusive or of their hashes.
  private static let audit = """
    CREATE TABLE audit(
      id INTEGER PRIMARY KEY,
      time INTEGER NOT NULL,
      event TEXT NOT NULL,
      detail TEXT NOT NULL,
      hash BLOB NOT NULL,
      previous BLOB NOT NULL DEFAULT x''
    ) STRICT;
    CREATE TABLE auditEnds(
      prunedID INTEGER NOT NULL,
      prunedHash BLOB NOT NULL,
      prunedAt INTEGER,
      lastID INTEGER NOT NULL,
      lastHash BLOB NOT NULL,
      readsHash BLOB NOT NULL DEFAULT x''
    ) STRICT;
    INSERT INTO auditEnds(prunedID, prunedHash, prunedAt, lastID, lastHash) VALUES (0, x'', NULL, 0, x'');
    CREATE TABLE auditRead(
      peer TEXT NOT NULL,
      kind TEXT NOT NULL,
      event TEXT NOT NULL,
      session INTEGER NOT NULL,
      began INTEGER NOT NULL,
      time INTEGER NOT NULL,
      times INTEGER NOT NULL,
      detail TEXT NOT NULL,
      hash BLOB NOT NULL,
      PRIMARY KEY(peer, kind)
    ) STRICT, WITHOUT ROWID;
    """

  /// The table of ``AnalysisSettings``. `type` is an identifier, or empty for a setting of all types. The table
  /// `type` may not have that identifier yet.
  private static let settings = """
    CREATE TABLE analysisSetting(
      name TEXT NOT NULL,
      type TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY(name, type)
    ) STRICT, WITHOUT ROWID;
    """

  /// The table of ``DeliveryState``. Times are microseconds since 1970.
  private static let deliveries = """
    CREATE TABLE delivery(
      consumer TEXT PRIMARY KEY,
      paused INTEGER,
      attempted INTEGER,
      succeeded INTEGER,
      failing INTEGER,
      failures INTEGER NOT NULL DEFAULT 0,
      reason TEXT,
      waiting INTEGER,
      delivered INTEGER NOT NULL DEFAULT 0,
      refused INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    """

  /// The table of ``ActivityState``. Times are microseconds since 1970.
  private static let activities = """
    CREATE TABLE activity(
      name TEXT PRIMARY KEY,
      created INTEGER NOT NULL,
      paused INTEGER,
      due INTEGER,
      started INTEGER,
      ended INTEGER,
      succeeded INTEGER,
      failing INTEGER,
      failures INTEGER NOT NULL DEFAULT 0,
      reason TEXT,
      runs INTEGER NOT NULL DEFAULT 0,
      mark TEXT
    ) STRICT, WITHOUT ROWID;
    """
}

extension UUID {
  var bytes: Data { withUnsafeBytes(of: uuid) { Data($0) } }

  init?(bytes: Data) {
    guard bytes.count == 16 else { return nil }
    self.init(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
  }
}
