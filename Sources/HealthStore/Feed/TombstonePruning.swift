import GRDB
import HealthModel

extension HealthStore.Feed {
  /// Forgets the tombstones of samples that were deleted before `instant`, and returns how many they were. One
  /// transaction; costs a walk along all tombstones. Those that a ``FeedConsumer`` has not passed are kept,
  /// and those that may hide a sample which came by another road.
  ///
  /// Every other position that lies before the last of them becomes ``StoreError/anchorOutOfRange``: its reader can no longer be
  /// told what to delete, so it starts over. Starting over adds what it lacks and removes nothing.
  ///
  /// - Warning: A tombstone is all that keeps a deleted sample away. Once it is forgotten here, the sample **comes back**
  ///   with the next import of a file that holds it, and with the next pull from a machine that never saw the deletion.
  ///   A reader that had to start over keeps it. Machines that still hold the tombstone refuse the sample when it has come
  ///   back, and do not tell this store of the deletion again, so that the two differ until one of them pulls everything
  ///   from the other.
  ///
  /// Safe is only what every machine has seen that ever held these samples, and that no file will bring again. No store can
  /// know that, so nothing calls this by itself: tombstones are kept for ever unless somebody decides otherwise, for all
  /// machines together.
  ///
  /// - Parameter instant: compared with ``Tombstone/deleted``, the clock of the machine where the sample was first deleted.
  @discardableResult
  public func pruneTombstones(before instant: Timestamp) async throws(StoreError) -> Int {
    try await store.write { db in
      let second = Visibility.second(of: "tombstone.start")
      let condition = """
        deleted < ? AND change <= ? AND NOT (duration IS NOT NULL AND EXISTS(
          SELECT 1 FROM sample WHERE type = tombstone.type
          AND start BETWEEN \(second) AND \(second) + 999999))
        """
      let arguments: StatementArguments = [instant.microseconds, try ConsumerRow.slowestPosition(db) ?? .max]
      let last = try Int64.fetchOne(
        db, sql: "SELECT MAX(change) FROM tombstone WHERE \(condition)", arguments: arguments)
      guard let last else { return 0 }
      try db.execute(sql: "DELETE FROM tombstone WHERE \(condition)", arguments: arguments)
      let count = db.changesCount
      // The kept digests hold these tombstones.
      try DigestTable.clear(db)
      try UndoJournal.forget(db)
      try db.execute(sql: "UPDATE store SET tombstoneFloor = MAX(tombstoneFloor, ?)", arguments: [last])
      try Epoch.rename(before: last, db)
      return count
    }
  }
}
