import Foundation
import GRDB
import HealthModel

/// The last import, if it can be undone. Valid within one transaction.
struct UndoableImport {
  struct Obstacle: Error {
    var refusal: UndoRefusal
  }

  private let name: String
  private let started: Timestamp
  private let record: Int64?
  /// The change counter before the import, and after it.
  private let first: Int64
  private let last: Int64
  /// The last event of the audit log before the import.
  private let event: Int64

  static func find(_ db: Database) throws -> Result<UndoableImport, Obstacle> {
    guard
      let row = try Row.fetchOne(
        db,
        sql: """
          SELECT name, started, import, first, last, event,
            isAlone AND last = counter AND undo.tombstoneFloor = store.tombstoneFloor AND NOT EXISTS(
              SELECT 1 FROM position LEFT JOIN undoPosition USING (consumer)
              WHERE undoPosition.token IS NOT position.token), isKept
          FROM undo, store
          """)
    else { return .failure(Obstacle(refusal: .noImport)) }
    let found = UndoableImport(row)
    guard row[6] as Bool else {
      return .failure(Obstacle(refusal: .changedSince(name: found.name, events: try found.laterWrites(db))))
    }
    guard try AuditEnds.fetch(db).pruned.id <= found.event else {
      return .failure(Obstacle(refusal: .unknownReaders(name: found.name)))
    }
    let peers = try ImportReaders(after: found.event, past: found.first, db).names
    guard peers.isEmpty else { return .failure(Obstacle(refusal: .read(name: found.name, peers: peers))) }
    guard row[7] as Bool else { return .failure(Obstacle(refusal: .unknownReaders(name: found.name))) }
    return .success(found)
  }

  private init(_ row: Row) {
    (name, started, record) = (row[0], Timestamp(microseconds: row[1]), row[2])
    (first, last, event) = (row[3], row[4], row[5])
  }

  /// Returns the audit events of other writes since the import began.
  private func laterWrites(_ db: Database) throws -> [AuditRecord] {
    let names: [AuditEvent.Name] = [
      .deleted, .restored, .pullStarted, .pullFinished, .pullFailed, .inboxReceived,
    ]
    return try AuditRecord.fetch(db, after: event, names: names)
  }

  func summary(_ db: Database) throws -> ImportUndo {
    let types = TypeNames(db)
    func counts(_ source: String) throws -> [SampleType: Int] {
      var counts: [SampleType: Int] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT type, COUNT(*) FROM \(source) GROUP BY type") {
        let type = try types.name(row[0])
        counts[type] = row[1] as Int
      }
      return counts
    }
    return ImportUndo(
      name: name, started: started, removed: try counts("sample NOT INDEXED WHERE change > \(first)"),
      restored: try counts("undoSample"))
  }

  func undo(_ db: Database) throws -> ImportUndo {
    let summary = try summary(db)
    // First, while the names of all types exist.
    let consumers = last > first ? try ConsumerRow.prepareRewind(to: first, db) : []
    try takeBackRecords(db)
    if last > first { try takeBackChanges(consumers, db) }
    try UndoJournal.clear(db)
    let (removed, restored) = (summary.removed.values.reduce(0, +), summary.restored.values.reduce(0, +))
    try AuditChain.append(
      AuditEvent(.importUndone, ["file": name, "removed": String(removed), "restored": String(restored)]), db)
    return summary
  }

  private func takeBackChanges(_ consumers: [ConsumerRow], _ db: Database) throws {
    try count("sample NOT INDEXED WHERE change > \(first)", sign: "-", db)
    try count("undoSample", sign: "+", db)
    try db.execute(sql: "DELETE FROM sample WHERE change > ?", arguments: [first])
    try db.execute(sql: "DELETE FROM tombstone WHERE change > ?", arguments: [first])
    var counter = try bringBack(db)
    var visibility = Visibility(db)
    try visibility.updateAll(after: last + 1, counter: &counter)
    // The kept digests include samples that are gone.
    try DigestTable.clear(db)
    // The numbers are not assigned again, and a reader that has seen any of them is in an epoch that is gone.
    try db.execute(sql: "DELETE FROM epoch WHERE first > ?", arguments: [first])
    try Epoch.begin(at: first + 1, db)
    try ConsumerRow.rewind(consumers, to: first, db)
    try db.execute(sql: "UPDATE store SET counter = ?", arguments: [counter])
  }

  private func count(_ source: String, sign: String, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE type SET
          samples = type.samples \(sign) counted.samples, derived = type.derived \(sign) counted.derived
        FROM (
          SELECT type, COUNT(*) AS samples, SUM(\(TypeTally.isDerived)) AS derived FROM \(source) GROUP BY type
        ) AS counted WHERE counted.type = type.id
        """)
  }

  /// Adds the deleted samples again, with new numbers: a reader that has passed the older numbers meanwhile has not
  /// seen them.
  ///
  /// - Returns: the counter after them.
  private func bringBack(_ db: Database) throws -> Int64 {
    let known = try ImportTrail.numbers("undoRange", db)
    let numbers = try Int64.fetchAll(db, sql: "SELECT change FROM undoSample ORDER BY change")
    // No consumer waits at a number that the import has reached.
    var counter = last + 1
    for number in numbers {
      counter += 1
      var statement = try Binding(
        db,
        """
        INSERT INTO sample(\(StoredChanges.sampleColumns))
        SELECT ?, \(StoredChanges.sampleColumns.dropFirst("change, ".count)) FROM undoSample WHERE change = ?
        """)
      statement.bind(counter)
      statement.bind(number)
      try statement.run(db)
      if known.contains(number) { try ImportTrail.write(counter...counter, db) }
      try Repetition.undo(number, as: counter, db)
      if let said = try StatedRanges.said(number, db) { try StatedRanges.add(counter...counter, said: said, db) }
    }
    return counter
  }

  private func takeBackRecords(_ db: Database) throws {
    try UndoJournal.takeAliases(db)
    try UndoJournal.removeDictionaryRows(db)
    try Repetition.undo(db)
    try db.execute(
      sql: """
        DELETE FROM importedRange;
        INSERT INTO importedRange SELECT first, last FROM undoRange;
        DELETE FROM twin WHERE key IN (SELECT key FROM undoTwin);
        DELETE FROM sourceAlias WHERE name IN (SELECT name FROM undoAlias WHERE NOT isPending);
        INSERT INTO sourceAlias(name, identity)
          SELECT name, identity FROM undoAlias WHERE NOT isPending AND identity IS NOT NULL;
        """)
    // The first record of several exports that were imported as one. The later ones have changed nothing.
    guard let record else { return }
    try db.execute(
      sql: """
        DELETE FROM analysisSetting
        WHERE name = ? AND EXISTS(SELECT 1 FROM import WHERE id >= ? AND exported IS NOT NULL)
        """, arguments: [AnalysisSettings.Name.exportLocale.rawValue, record])
    try db.execute(sql: "DELETE FROM import WHERE id >= ?", arguments: [record])
  }
}

/// The changes that undoing an import made or would make.
public struct ImportUndo: Hashable, Sendable {
  /// The file's name.
  public var name: String
  /// The time at which the import began.
  public var started: Timestamp
  /// The number of removed samples, which the import had added, by type.
  public var removed: [SampleType: Int]
  /// The number of restored samples, which the import had deleted or replaced, by type.
  public var restored: [SampleType: Int]
}

/// The reason why the last import cannot be undone.
public enum UndoRefusal: Hashable, Sendable {
  /// No import can be undone: none exists, or the last one was undone already.
  case noImport
  /// An import is running.
  case running
  /// The store has changed since the import, or during it.
  ///
  /// - Parameter events: the audit events of those changes.
  case changedSince(name: String, events: [AuditRecord])
  /// Peers have read data of the import.
  ///
  /// - Parameter peers: their names, without duplicates.
  case read(name: String, peers: [String])
  /// The audit log was pruned since, and does not say which peers have read data.
  case unknownReaders(name: String)
}

/// The outcome of ``HealthStore/Imports/undoLast(isDryRun:)``.
public enum UndoOutcome: Hashable, Sendable {
  /// The import was undone, or would be.
  case undone(ImportUndo)
  /// The import was not undone, and nothing was changed.
  case refused(UndoRefusal)
}
