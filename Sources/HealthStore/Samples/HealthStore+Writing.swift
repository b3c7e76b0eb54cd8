import GRDB
import HealthModel

extension HealthStore {
  /// Applies changes, and saves the position that follows them, in one transaction.
  @discardableResult
  public func apply(
    _ batch: ChangeBatch, position: (consumer: String, token: String)? = nil
  ) async throws(StoreError) -> WriteSummary {
    try await apply([try coded(batch)], position: position)
  }

  /// Applies coded changes in the same way. Their texts and indices must be valid as ``CodedChanges`` describes.
  @discardableResult
  public func apply(
    _ batches: [CodedChanges], position: (consumer: String, token: String)? = nil
  ) async throws(StoreError) -> WriteSummary {
    try await write { [self] db in
      try requireRoomBlocking(for: batches)
      let summary = try apply(batches, db: db)
      if let position { try Self.setPosition(position.token, of: position.consumer, db: db) }
      return summary
    }
  }

  /// Applies coded changes in the same way if the store's owner is still `owner`, with which the changes were
  /// compared. Otherwise applies nothing and throws ``StoreError/ownerChanged(path:)``: another process may have
  /// imported another person's record.
  ///
  /// - Parameter sender: the sender of the changes, if the store should record which changes came from there first.
  /// - Returns: the summary and the owner after the write.
  public func apply(
    _ batches: [CodedChanges], position: (consumer: String, token: String)?, while owner: RecordOwner,
    sender: String? = nil
  ) async throws(StoreError) -> (summary: WriteSummary, owner: RecordOwner) {
    try await write { [self] db -> (summary: WriteSummary, owner: RecordOwner) in
      try requireRoomBlocking(for: batches)
      guard try RecordOwner(db) == owner else { throw StoreError.ownerChanged(path: path) }
      let before = try Schema.counter(db)
      let summary = try apply(batches, db: db)
      if let sender { try SentChanges.note(sender, after: before, db) }
      if let position { try Self.setPosition(position.token, of: position.consumer, db: db) }
      return (summary, try RecordOwner(db))
    }
  }

  /// Applies changes and waits for the result. Blocking: call it on a thread of its own, never in an asynchronous
  /// function.
  ///
  /// - Parameter readings: readings to replace in the same transaction; see ``add(readings:)``.
  public func applyBlocking(_ batch: ChangeBatch, readings: [Sample] = []) throws(StoreError) -> WriteSummary {
    try applyBlocking([try coded(batch)], readings: readings)
  }

  /// Applies coded changes in the same way. Their texts and indices must be valid as ``CodedChanges`` describes.
  public func applyBlocking(_ batches: [CodedChanges], readings: [Sample] = []) throws(StoreError) -> WriteSummary {
    try requireRoomBlocking(for: batches)
    return try writeBlocking { db in
      var summary = try apply(batches, db: db)
      if !readings.isEmpty { summary += try add(readings: readings, db: db) }
      return summary
    }
  }

  private func coded(_ batch: ChangeBatch) throws(StoreError) -> CodedChanges {
    var coder = ChangeCoder()
    do {
      for tombstone in batch.deletions { coder.add(tombstone) }
      for sample in batch.additions { try coder.add(sample) }
    } catch {
      throw StoreError(error, path: path)
    }
    return coder.changes
  }

  private func apply(_ batches: [CodedChanges], db: Database) throws -> WriteSummary {
    var writer = try SampleWriter(db, epochs: epochs, now: now)
    for changes in batches { try writer.write(changes) }
    try writer.finish()
    return writer.summary
  }
}
