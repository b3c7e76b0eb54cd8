import Cryptography
import Foundation
import GRDB
import HealthModel

/// How a store of an older version becomes one of ``Schema``. A migration that somebody may have run is never edited.
enum SchemaHistory {
  static func migrator() -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("v1", migrate: createVersion1)
    migrator.registerMigration("v2", migrate: addEpochs)
    migrator.registerMigration("v3", migrate: addAuditEnds)
    migrator.registerMigration("v4", migrate: addDigests)
    migrator.registerMigration("v5", migrate: addImports)
    migrator.registerMigration("confirmedPerson", migrate: addConfirmedPersons)
    migrator.registerMigration("importUndo", migrate: addUndo)
    migrator.registerMigration("auditReads", migrate: addAuditReads)
    migrator.registerMigration("consumers", migrate: addConsumers)
    migrator.registerMigration("roads", migrate: addRoads)
    migrator.registerMigration("roadsOfTypes", migrate: addRoadsOfTypes)
    migrator.registerMigration("analysisSettings", migrate: addAnalysisSettings)
    migrator.registerMigration("deliveries", migrate: addDeliveries)
    migrator.registerMigration("activities", migrate: addActivities)
    // Decided by the next, too.
    migrator.registerMigration("workoutsOfAnyName") { _ in }
    migrator.registerMigration(workoutsOfNoSource, migrate: decideWorkouts)
    migrator.registerMigration(renamedSources, migrate: joinRenamedSources)
    return migrator
  }

  /// Whether what is hidden was decided by the rule as it is now.
  static func hasDecidedVisibility(_ db: Database) throws -> Bool {
    try migrator().appliedIdentifiers(db).isSuperset(of: [workoutsOfNoSource, renamedSources])
  }

  private static let workoutsOfNoSource = "workoutsOfNoSource"
  private static let renamedSources = "renamedSources"

  /// Dates are microseconds since 1970; `duration` and `created` are wrapping differences from `start`, which keeps
  /// them short. `value` is NULL for NaN. `payload` and `metadata` are JSON. A sample's change number is its rowid, so
  /// that a page of the feed is one walk along the table.
  private static func createVersion1(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE store(
          id BLOB NOT NULL,
          counter INTEGER NOT NULL,
          tombstoneFloor INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE type(id INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, samples INTEGER NOT NULL) STRICT;
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
          metadata TEXT
        ) STRICT;
        CREATE UNIQUE INDEX sample_identity ON sample(type, start, uuid);
        CREATE TABLE tombstone(
          change INTEGER PRIMARY KEY,
          type INTEGER NOT NULL REFERENCES type,
          start INTEGER NOT NULL,
          uuid BLOB NOT NULL,
          deleted INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX tombstone_identity ON tombstone(type, start, uuid);
        CREATE TABLE position(
          consumer TEXT PRIMARY KEY,
          token TEXT NOT NULL,
          updated INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE audit(
          id INTEGER PRIMARY KEY,
          time INTEGER NOT NULL,
          event TEXT NOT NULL,
          detail TEXT NOT NULL,
          hash BLOB NOT NULL
        ) STRICT;
        """)
    try db.execute(
      sql: "INSERT INTO store(id, counter, tombstoneFloor) VALUES (?, 0, 0)", arguments: [UUID().bytes])
  }

  /// An epoch's `first` is the first change number that it covers; the next epoch ends it.
  private static func addEpochs(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE epoch(first INTEGER PRIMARY KEY, id BLOB NOT NULL) STRICT;
        ALTER TABLE store ADD COLUMN positionKey BLOB;
        """)
    let key = SymmetricKey(size: 32).withUnsafeBytes { Data($0) }
    try db.execute(sql: "UPDATE store SET positionKey = ?", arguments: [key])
    try Epoch.insert(.first(ofStore: try Schema.storeID(db).bytes), at: 0, db)
  }

  /// One row: the last audit event that was removed because of its age, and the last that was written.
  private static func addAuditEnds(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE auditEnds(
          prunedID INTEGER NOT NULL,
          prunedHash BLOB NOT NULL,
          prunedAt INTEGER,
          lastID INTEGER NOT NULL,
          lastHash BLOB NOT NULL
        ) STRICT;
        INSERT INTO auditEnds VALUES (
          0, x'', NULL, COALESCE((SELECT MAX(id) FROM audit), 0),
          COALESCE((SELECT hash FROM audit ORDER BY id DESC LIMIT 1), x''));
        """)
  }

  /// `month` counts from January 1970; sums are 16 bytes, big-endian. All rows hold for the changes up to
  /// `digestPosition.change`.
  private static func addDigests(_ db: Database) throws {
    try db.execute(
      sql: """
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
        """)
  }

  /// `type.derived` counts the samples whose UUIDs are derived from what they say; `tombstone.replaced` is the UUID of
  /// the sample that says the same as the deleted one. The samples that exports held are known by their change
  /// numbers, in ranges. `twin` has the keys that more than one of them has.
  private static func addImports(_ db: Database) throws {
    try db.execute(
      sql: """
        ALTER TABLE type ADD COLUMN derived INTEGER NOT NULL DEFAULT 0;
        UPDATE type SET derived = (
          SELECT COUNT(*) FROM sample WHERE type = type.id
          AND substr(hex(uuid), 13, 1) = '5' AND substr(hex(uuid), 17, 1) IN ('8', '9', 'A', 'B'));
        ALTER TABLE tombstone ADD COLUMN replaced BLOB;
        CREATE TABLE import(
          id INTEGER PRIMARY KEY,
          started INTEGER NOT NULL,
          finished INTEGER,
          name TEXT NOT NULL,
          digest BLOB,
          exported INTEGER,
          person BLOB,
          isComplete INTEGER NOT NULL,
          isSnapshot INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE importedRange(first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
        CREATE TABLE sourceAlias(name TEXT PRIMARY KEY, identity TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE twin(key TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        """)
  }

  /// A keyed hash of the person of an import that somebody confirmed although it contradicts that of the store.
  private static func addConfirmedPersons(_ db: Database) throws {
    try db.execute(sql: "ALTER TABLE import ADD COLUMN confirmedPerson BLOB")
  }

  /// `undo` has at most one row: the last import, and how the store was before it. What that import added is found by
  /// its numbers, `first` excluded; only what it deleted is kept, and the aliases that it changed, as they were: `identity` is
  /// NULL for one that was not. They are pending until their import begins.
  private static func addUndo(_ db: Database) throws {
    try db.execute(
      sql: """
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
          metadata TEXT
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
        """)
  }

  /// `audit.previous` is the hash of the event before; `auditRead` has the reads that are counted and not in the chain yet,
  /// and `auditEnds.readsHash` the exclusive or of their hashes.
  private static func addAuditReads(_ db: Database) throws {
    try db.execute(
      sql: """
        ALTER TABLE audit ADD COLUMN previous BLOB NOT NULL DEFAULT x'';
        UPDATE audit SET previous = COALESCE(
          (SELECT hash FROM audit AS earlier WHERE earlier.id = audit.id - 1),
          (SELECT prunedHash FROM auditEnds WHERE prunedID = audit.id - 1), x'');
        ALTER TABLE auditEnds ADD COLUMN readsHash BLOB NOT NULL DEFAULT x'';
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
        """)
  }

  /// `consumer.state` is a ``ConsumerState`` as JSON; `position` and `undone` are parts of it. `undoneSample` has samples that
  /// the undoing of an import took back, for consumers who may have them.
  private static func addConsumers(_ db: Database) throws {
    try db.execute(
      sql: """
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
        """)
  }

  /// `road` is a ``SampleRoad``; of what was there before, its identity tells. A tombstone has the `duration` of a sample
  /// that was really deleted, and the `hint` of a quantity (``ValueHint``); one without only keeps an identity away. `source` is that of
  /// the sample, where it was here or its deletion was told with it. `visibility` is kept by ``Visibility``: its
  /// `number` is the change number at which a sample was hidden or shown again, NULL for one that was hidden from the beginning.
  ///
  /// An app's sample took the place of an exported one. Those tombstones go, and with them the epochs that covered them; where
  /// a peer told of such a deletion, nothing but the app's sample beside it shows what it was.
  private static func addRoads(_ db: Database) throws {
    try db.execute(
      sql: """
        ALTER TABLE sample ADD COLUMN road INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE undoSample ADD COLUMN road INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE tombstone ADD COLUMN duration INTEGER;
        ALTER TABLE tombstone ADD COLUMN source INTEGER REFERENCES source;
        ALTER TABLE tombstone ADD COLUMN road INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE tombstone ADD COLUMN hint INTEGER;
        CREATE TABLE visibility(
          sample INTEGER PRIMARY KEY REFERENCES sample ON DELETE CASCADE,
          type INTEGER NOT NULL,
          isHidden INTEGER NOT NULL,
          number INTEGER,
          time INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX visibility_number ON visibility(number) WHERE number IS NOT NULL;
        CREATE INDEX visibility_hidden ON visibility(type) WHERE isHidden;
        """)
    try db.execute(
      sql: """
        UPDATE sample SET road = \(SampleRoad.healthAutoExport.rawValue)
          WHERE type IN (SELECT id FROM type WHERE identifier LIKE 'hae.%');
        UPDATE sample SET road = \(SampleRoad.file.rawValue)
          WHERE type IN (SELECT id FROM type WHERE samples > derived) AND road = 1 AND NOT (\(TypeTally.isDerived));
        """)
    let second = Visibility.second(of: "tombstone.start")
    let condition = """
      (replaced IS NOT NULL AND NOT (\(TypeTally.isDerived("replaced"))) OR replaced IS NULL AND (\(TypeTally.isDerived)) AND EXISTS(
        SELECT 1 FROM sample AS other WHERE other.type = tombstone.type
        AND other.start BETWEEN \(second) AND \(second) + 999999
        AND NOT (\(TypeTally.isDerived("other.uuid")))))
      """
    let last = try Int64.fetchOne(db, sql: "SELECT MAX(change) FROM tombstone WHERE \(condition)")
    guard let last else { return }
    try db.execute(sql: "DELETE FROM tombstone WHERE \(condition)")
    try DigestTable.clear(db)
    try UndoJournal.clear(db)
    try db.execute(sql: "UPDATE store SET tombstoneFloor = MAX(tombstoneFloor, ?)", arguments: [last])
    try Epoch.rename(before: last, db)
  }

  /// `type.roads` has a bit for each ``SampleRoad`` by which samples with derived UUIDs ever came; of what was there before,
  /// also those of other samples, which are not told apart here because that takes several times as long.
  private static func addRoadsOfTypes(_ db: Database) throws {
    try db.execute(
      sql: """
        ALTER TABLE type ADD COLUMN roads INTEGER NOT NULL DEFAULT 0;
        UPDATE type SET roads = came.roads FROM (
            SELECT type, SUM(1 << road) AS roads
            FROM (SELECT DISTINCT type, road FROM sample NOT INDEXED) GROUP BY type
          ) AS came
          WHERE came.type = type.id;
        """)
  }

  /// See ``AnalysisSettings``. `type` is an identifier, or empty for what is decided of all.
  private static func addAnalysisSettings(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE analysisSetting(
          name TEXT NOT NULL,
          type TEXT NOT NULL,
          value TEXT NOT NULL,
          PRIMARY KEY(name, type)
        ) STRICT, WITHOUT ROWID;
        """)
  }
  /// See ``DeliveryState``. Times are microseconds since 1970.
  private static func addDeliveries(_ db: Database) throws {
    try db.execute(
      sql: """
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
        """)
  }

  /// See ``ActivityState``. Times are microseconds since 1970.
  private static func addActivities(_ db: Database) throws {
    try db.execute(
      sql: """
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
        """)
  }

  /// A workout that an app calls "other" says since then what one of the same source and dates says (``StatedValue``), and so
  /// does one whose source and activity an app does not tell (``SecondReader``): some that were shown are hidden, and consumers
  /// are told.
  private static func decideWorkouts(_ db: Database) throws {
    try decide(db) { visibility, first, counter in
      try visibility.updateAll(of: .workout, after: first, counter: &counter)
    }
  }

  /// What a renamed source has under each of its names is one since then (``RenamedSources``).
  private static func joinRenamedSources(_ db: Database) throws {
    try decide(db) { visibility, first, counter in
      try visibility.joinRenamed(after: first, counter: &counter)
    }
  }

  private static func decide(
    _ db: Database, _ body: (inout Visibility, _ first: Int64, _ counter: inout Int64) throws -> Void
  ) throws {
    let first = try Schema.counter(db)
    var counter = first
    var visibility = Visibility(db)
    try body(&visibility, first, &counter)
    if counter == first { return }
    // Copies of one store that are brought up to date apart give the same numbers out.
    try Epoch.begin(at: first + 1, db)
    try db.execute(sql: "UPDATE store SET counter = ?", arguments: [counter])
    try UndoJournal.forget(db)
  }
}
