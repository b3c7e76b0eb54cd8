import GRDB

extension HealthStore {
  /// What is kept in order now and then while nobody needs the store: SQLite's notes for its planner, the write-ahead log, and a
  /// look at one table, so that damage is found before the backup of a healthy file is gone. Waits for nobody.
  ///
  /// - Parameter turn: which table is looked at; each number the next one.
  /// - Returns: what SQLite finds wrong with that table; `nil` where it is sound.
  public func maintain(turn: Int) async throws(StoreError) -> StoreFinding? {
    do {
      try await pool.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA analysis_limit = 400; PRAGMA optimize")
        try db.checkpoint(.passive)
      }
    } catch {
      let error = StoreError(error, path: path, isCancelled: Task.isCancelled)
      // Somebody else is at work: there is another day.
      guard case .locked = error else { throw error }
    }
    return try await read { db in
      let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      guard !tables.isEmpty else { return nil }
      let table = tables[Int(turn.magnitude % UInt(tables.count))]
      let found = try String.fetchOne(db, sql: "PRAGMA quick_check('\(table)')")
      return found == "ok" ? nil : .damagedPages(found ?? "\(table) cannot be read")
    }
  }
}
