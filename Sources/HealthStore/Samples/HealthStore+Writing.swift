import GRDB
import HealthModel

extension HealthStore {
  /// Applies changes, and the position that follows them, in one transaction: both happen or neither.
  @discardableResult
  public func apply(
    _ batch: ChangeBatch, position: (consumer: String, token: String)? = nil
  ) async throws(StoreError) -> WriteSummary {
    try await write { [self] db in
      let summary = try apply(batch, db: db)
      if let position { try Self.setPosition(position.token, of: position.consumer, db: db) }
      return summary
    }
  }

  /// Applies changes and waits. Blocking: for a thread of one's own, never for an asynchronous function.
  ///
  /// - Parameter drifting: see ``replace(drifting:)``; replaced in the same transaction.
  public func applyBlocking(_ batch: ChangeBatch, drifting: [Sample] = []) throws(StoreError) -> WriteSummary {
    defer { watch.committed() }
    do {
      return try pool.write { db in
        var summary = try apply(batch, db: db)
        if !drifting.isEmpty { summary += try replace(drifting: drifting, db: db) }
        return summary
      }
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Adds samples whose values change from one reading to the next, such as a day's activity summary.
  ///
  /// A newer reading (by ``Sample/created``) of the same type and start takes the place of the older one: a tombstone
  /// and an addition. An older reading changes nothing.
  @discardableResult
  public func replace(drifting samples: [Sample]) async throws(StoreError) -> WriteSummary {
    try await write { [self] db in try replace(drifting: samples, db: db) }
  }

  private func apply(_ batch: ChangeBatch, db: Database) throws -> WriteSummary {
    var writer = try SampleWriter(db, epochs: epochs)
    for tombstone in batch.deletions { try writer.delete(tombstone) }
    for sample in batch.additions { try writer.add(sample) }
    try writer.finish()
    return writer.summary
  }

  private func replace(drifting samples: [Sample], db: Database) throws -> WriteSummary {
    var writer = try SampleWriter(db, epochs: epochs)
    var unchanged = 0
    for sample in samples {
      let present = try SampleRow.fetch(
        db, where: "type = ? AND start = ?", arguments: [try sample.type.id(in: db), sample.start.microseconds]
      ).map(\.1)
      let read = sample.created ?? .distantPast
      if present.contains(where: { $0.payload == sample.payload || $0.created ?? .distantPast > read }) {
        unchanged += 1
        continue
      }
      for old in present {
        try writer.delete(Tombstone(sample: old.reference, deleted: .now))
      }
      // A value that comes back after another has a tombstone of its own: it needs a new identity.
      var sample = sample
      var ordinal = 0
      while try writer.isDeleted(sample) {
        ordinal += 1
        sample.uuid = SampleIdentity.uuid(ofDrifting: sample, ordinal: ordinal)
      }
      try writer.add(sample)
    }
    try writer.finish()
    var summary = writer.summary
    summary.unchanged += unchanged
    return summary
  }
}

extension Timestamp {
  fileprivate static let distantPast = Timestamp(microseconds: .min)
}
