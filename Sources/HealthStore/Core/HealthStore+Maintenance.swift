import GRDB

extension HealthStore {
  /// Runs periodic maintenance: updates SQLite's planner statistics, checkpoints the write-ahead log, and checks one
  /// table, so that damage is found while a backup of the sound file still exists. Does not wait for locks.
  ///
  /// - Parameter turn: selects the table to check. Pass the next number each time.
  /// - Returns: the damage that SQLite finds in that table, or `nil` if it is sound.
  public func maintain(turn: Int) async throws(StoreError) -> StoreFinding? {
    do {
      try await pool.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA analysis_limit = 400; PRAGMA optimize")
        try db.checkpoint(.passive)
      }
    } catch {
      let error = StoreError(error, path: path, isCancelled: Task.isCancelled)
      // Another process is writing. The next run catches up.
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
