import GRDB

/// The migration from stores before version 0.9.0, as the last development version left them (commit 2853c503). Older
/// versions were never distributed.
enum EarlierSchema {
  private static let migrations: Set = [
    "v1", "v2", "v3", "v4", "v5", "confirmedPerson", "importUndo", "auditReads", "consumers", "roads", "roadsOfTypes",
    "analysisSettings", "deliveries", "activities", "workoutsOfAnyName", "workoutsOfNoSource", "renamedSources",
  ]

  /// Returns whether the database has the tables of that version. Throws ``StoreError/other(path:detail:)`` if they
  /// are even older.
  static func isOf(_ db: Database, path: String) throws -> Bool {
    guard try db.tableExists("grdb_migrations") else { return false }
    let applied = try String.fetchSet(db, sql: "SELECT identifier FROM grdb_migrations")
    guard !applied.isEmpty, applied.isSubset(of: migrations) else { return false }
    guard applied == migrations else {
      throw StoreError.other(
        path: path, detail: "a development version of hpeer wrote it that is too old; open it with commit 2853c503 once"
      )
    }
    return true
  }

  /// Rebuilds or discards derived data after samples got new identities and change numbers.
  ///
  /// - Parameters:
  ///   - first: the counter before the renumbering.
  ///   - last: the last change number that was assigned.
  static func renumbered(after first: Int64, upTo last: Int64, _ db: Database) throws {
    try db.execute(sql: "DELETE FROM visibility WHERE sample NOT IN (SELECT change FROM sample)")
    var counter = last
    var visibility = Visibility(db)
    try visibility.updateAll(after: first, counter: &counter)
    try db.execute(sql: "UPDATE store SET counter = ?", arguments: [counter])
    try Epoch.begin(at: first + 1, db)
    try DigestTable.clear(db)
    try UndoJournal.forget(db)
  }

  /// Rebuilds `visibility` and the counts of each type. Earlier versions left the rows of deleted or undone hidden
  /// samples behind, because they relied on a foreign key that SQLite did not enforce. The numbers of shown samples
  /// were too low.
  static func bringUpToDate(_ db: Database) throws {
    let gone =
      try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM visibility WHERE sample NOT IN (SELECT change FROM sample)") ?? 0
    try db.execute(
      sql: """
        ALTER TABLE visibility RENAME TO earlier;
        DROP INDEX visibility_number;
        DROP INDEX visibility_hidden;
        \(Schema.visibility)
        INSERT INTO visibility SELECT * FROM earlier WHERE sample IN (SELECT change FROM sample);
        DROP TABLE earlier;
        """)
    let corrected = try TypeTally.recount(db)
    guard gone > 0 || corrected > 0 else { return }
    try AuditChain.append(AuditEvent(.storeHealed, ["hidden": String(gone), "types": String(corrected)]), db)
  }
}
