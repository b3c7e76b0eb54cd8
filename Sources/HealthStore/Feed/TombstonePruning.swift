import GRDB
import HealthModel

extension HealthStore.Feed {
  /// Deletes the tombstones of samples that were deleted before `instant`, and returns their number. Runs in one
  /// transaction that reads all tombstones. Keeps the tombstones that a ``FeedConsumer`` has not passed yet, and
  /// those that may hide a sample that came by another road.
  ///
  /// Every other position before the last deleted tombstone becomes ``StoreError/anchorOutOfRange``: its reader can
  /// no longer learn what to delete, so it starts over. Starting over adds what the reader lacks and removes nothing.
  ///
  /// - Warning: A tombstone is all that keeps a deleted sample away. Once it is deleted here, the sample **comes
  ///   back** with the next import of a file that contains it, and with the next pull from a machine that never saw
  ///   the deletion. A reader that had to start over keeps the sample. Machines that still hold the tombstone refuse
  ///   the sample when it has come back, and do not send the deletion to this store again, so the two differ until
  ///   one of them pulls everything from the other.
  ///
  /// Pruning is safe only for deletions that every machine with these samples has seen, and if no file will bring the
  /// samples again. No store can know that, so nothing calls this automatically: tombstones are kept for ever unless
  /// a user decides otherwise, for all machines together.
  ///
  /// - Parameter instant: compared with ``Tombstone/deleted``, the clock of the machine where the sample was first
  ///   deleted.
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
      // The kept digests include these tombstones.
      try DigestTable.clear(db)
      try UndoJournal.forget(db)
      try db.execute(sql: "UPDATE store SET tombstoneFloor = MAX(tombstoneFloor, ?)", arguments: [last])
      try Epoch.rename(before: last, db)
      return count
    }
  }
}
