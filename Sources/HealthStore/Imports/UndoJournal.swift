import Foundation
import GRDB
import HealthModel

/// The journal of the last import, which keeps what the import removes; see
/// ``HealthStore/Imports/undoLast(isDryRun:)``.
///
/// Added samples cost nothing. The kept samples are deleted with the next change that another operation makes, and as
/// soon as a peer has read data of the import: then the import cannot be undone, and deleted samples must be gone.
struct UndoJournal {
  private static let dictionaries = ["type", "unit", "kind", "source", "device"]

  let id: Int64
  /// The counter when the import began.
  private let first: Int64

  /// Begins the journal of an import, in its first transaction that changes anything, and discards the previous
  /// journal.
  ///
  /// - Parameters:
  ///   - started: the time at which the import began.
  ///   - row: the id of the import's record; 0 if it has none.
  static func begin(_ name: String, at started: Timestamp, import row: Int64, _ db: Database) throws -> UndoJournal {
    // Never the identifier of an import that was undone or that runs in another process.
    let id = Int64.random(in: 1...Int64.max)
    try clear(db, keepsPending: true)
    let last = try dictionaries.map { try Int64.fetchOne(db, sql: "SELECT MAX(id) FROM \($0)") ?? 0 }
    let first = try Schema.counter(db)
    let floor = try Int64.fetchOne(db, sql: "SELECT tombstoneFloor FROM store") ?? 0
    // Reads counted so far happened before the import.
    try OpenReads.seal(db)
    let event = try AuditEnds.fetch(db).last.id
    // Imports that change nothing may follow. After this one is undone, their files are not completely in the store
    // any more.
    let record = row != 0 ? row : try Int64.fetchOne(db, sql: "SELECT IFNULL(MAX(id), 0) + 1 FROM import")
    let values: StatementArguments = [id, name, started.microseconds, record, first, first, floor, event]
    try db.execute(
      sql: """
        INSERT INTO undo(id, name, started, import, first, last, isAlone, isKept, tombstoneFloor, event,
          \(dictionaries.joined(separator: ", ")))
        VALUES (?, ?, ?, ?, ?, ?, TRUE, TRUE, ?, ?, ?, ?, ?, ?, ?)
        """, arguments: values + StatementArguments(last))
    try db.execute(
      sql: """
        INSERT INTO undoRange SELECT first, last FROM importedRange;
        INSERT INTO undoPosition SELECT consumer, token FROM position;
        """)
    try takeAliases(db)
    return UndoJournal(id: id, first: first)
  }

  /// Returns the journal to continue for the next of several exports that are imported as one, or `nil` if another
  /// import has begun since or the previous one was undone.
  static func resume(_ id: Int64, _ db: Database) throws -> UndoJournal? {
    guard let first = try Int64.fetchOne(db, sql: "SELECT first FROM undo WHERE id = ?", arguments: [id]) else {
      return nil
    }
    try takeAliases(db)
    return UndoJournal(id: id, first: first)
  }

  /// Returns whether anything has changed since ``begin(_:at:import:_:)``, in the same transaction.
  func hasChanges(_ db: Database) throws -> Bool {
    if try Schema.counter(db) != first { return true }
    return try Bool.fetchOne(
      db,
      sql: """
        SELECT EXISTS(SELECT 1 FROM undoTwin)
          OR EXISTS(SELECT first, last FROM importedRange EXCEPT SELECT first, last FROM undoRange)
        """) ?? false
  }

  /// Assigns pending alias changes to the import that begins. An alias that this import has changed before keeps its
  /// first value.
  static func takeAliases(_ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE OR IGNORE undoAlias SET isPending = FALSE WHERE isPending;
        DELETE FROM undoAlias WHERE isPending;
        """)
  }

  /// Copies a sample into the journal before it is deleted, unless this import has added it.
  func keep(_ uuid: UUID, start: Int64, type: Int64, _ db: Database) throws {
    var statement = try Binding(
      db,
      """
      INSERT INTO undoSample(\(StoredChanges.sampleColumns))
      SELECT \(StoredChanges.sampleColumns) FROM sample
      WHERE type = ? AND start = ? AND uuid = ? AND change <= ? AND EXISTS(SELECT 1 FROM undo WHERE id = ? AND isKept)
      """)
    statement.bind(type)
    statement.bind(start)
    statement.bind(uuid)
    statement.bind(first)
    statement.bind(id)
    try statement.run(db)
    guard db.changesCount > 0 else { return }
    try Repetition.keep(db.lastInsertedRowID, db)
  }

  /// Records that this import is the first with several records of this key.
  static func added(_ key: SampleKey, _ db: Database) throws {
    var statement = try Binding(db, "INSERT INTO undoTwin(key) VALUES (?) ON CONFLICT DO NOTHING")
    statement.bind(key.text)
    try statement.run(db)
  }

  /// Records that a source of an export that is about to be imported gets another identity.
  ///
  /// - Parameter identity: the previous identity, if it differs from the source's name.
  static func changes(alias name: String, from identity: String?, _ db: Database) throws {
    var statement = try Binding(
      db, "INSERT INTO undoAlias(isPending, name, identity) VALUES (TRUE, ?, ?) ON CONFLICT DO NOTHING")
    statement.bind(name)
    statement.bind(identity)
    try statement.run(db)
  }

  /// Records that a transaction of the import has moved the counter.
  func wrote(from: Int64, to counter: Int64, _ db: Database) throws {
    try db.execute(
      sql: "UPDATE undo SET isAlone = isAlone AND last = ?, last = ? WHERE id = ?", arguments: [from, counter, id])
    // Another import has begun meanwhile.
    if db.changesCount == 0 { try Self.forget(db) }
  }

  /// Makes the import impossible to undo, because another operation has written or read data.
  static func forget(_ db: Database) throws {
    try db.execute(sql: "UPDATE undo SET isKept = FALSE WHERE isKept")
    if db.changesCount > 0 { try db.execute(sql: "DELETE FROM undoSample") }
  }

  /// Makes the import impossible to undo if a peer has read up to a position after its start.
  static func forget(upTo anchor: Anchor, _ db: Database) throws {
    let isPast = try Bool.fetchOne(db, sql: "SELECT first < ? FROM undo", arguments: [anchor.change])
    if isPast == true { try forget(db) }
  }

  static func clear(_ db: Database, keepsPending: Bool = false) throws {
    try db.execute(
      sql: """
        DELETE FROM undo;
        DELETE FROM undoSample;
        DELETE FROM undoRange;
        DELETE FROM undoPosition;
        DELETE FROM undoTwin;
        DELETE FROM undoRepetition;
        """)
    try db.execute(sql: "DELETE FROM undoAlias" + (keepsPending ? " WHERE NOT isPending" : ""))
  }

  /// Deletes the dictionary rows that the import has added.
  static func removeDictionaryRows(_ db: Database) throws {
    for table in dictionaries {
      try db.execute(sql: "DELETE FROM \(table) WHERE id > (SELECT \(table) FROM undo)")
    }
  }
}
