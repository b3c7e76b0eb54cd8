import GRDB
import HealthModel

extension HealthStore {
  /// Applies changes, and the position that follows them, in one transaction: both happen or neither.
  @discardableResult
  public func apply(
    _ batch: ChangeBatch, position: (consumer: String, token: String)? = nil
  ) async throws(StoreError) -> WriteSummary {
    try await apply([try coded(batch)], position: position)
  }

  /// The same of coded changes, whose texts and indices must be as ``CodedChanges`` says.
  @discardableResult
  public func apply(
    _ batches: [CodedChanges], position: (consumer: String, token: String)? = nil
  ) async throws(StoreError) -> WriteSummary {
    try await write { [self] db in
      let summary = try apply(batches, db: db)
      if let position { try Self.setPosition(position.token, of: position.consumer, db: db) }
      return summary
    }
  }

  /// Applies changes and waits. Blocking: for a thread of one's own, never for an asynchronous function.
  ///
  /// - Parameter drifting: see ``replace(drifting:)``; replaced in the same transaction.
  public func applyBlocking(_ batch: ChangeBatch, drifting: [Sample] = []) throws(StoreError) -> WriteSummary {
    try applyBlocking([try coded(batch)], drifting: drifting)
  }

  /// The same of coded changes, whose texts and indices must be as ``CodedChanges`` says.
  public func applyBlocking(_ batches: [CodedChanges], drifting: [Sample] = []) throws(StoreError) -> WriteSummary {
    defer { watch.committed() }
    do {
      return try pool.write { db in
        var summary = try apply(batches, db: db)
        if !drifting.isEmpty { summary += try replace(drifting: drifting, db: db) }
        return summary
      }
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Adds samples whose values change from one reading to the next, such as a day's activity summary.
  ///
  /// A newer reading (by ``Sample/created``) of the same thing (``Sample/isReading(ofSameAs:)``) takes the place of the older
  /// one: a tombstone and an addition. An older reading changes nothing.
  @discardableResult
  public func replace(drifting samples: [Sample]) async throws(StoreError) -> WriteSummary {
    try await write { [self] db in try replace(drifting: samples, db: db) }
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
    var writer = try SampleWriter(db, epochs: epochs)
    for changes in batches { try writer.write(changes) }
    try writer.finish()
    return writer.summary
  }

  func replace(drifting samples: [Sample], db: Database) throws -> WriteSummary {
    var writer = try SampleWriter(db, epochs: epochs)
    var unchanged: [SampleType: Int] = [:]
    for sample in samples {
      let type = try sample.type.id(in: db)
      let present = try StoredSamples.fetch(db, where: "type = ? AND start = ?") {
        $0.bind(type)
        $0.bind(sample.start.microseconds)
      }.filter { $0.isReading(ofSameAs: sample) }
      let read = sample.created ?? .distantPast
      if present.contains(where: { $0.payload == sample.payload || $0.created ?? .distantPast > read }) {
        unchanged[sample.type, default: 0] += 1
        continue
      }
      // A value that comes back after another has a tombstone of its own: it needs a new identity.
      var sample = sample
      var ordinal = 0
      while try present.contains(where: { $0.uuid == sample.uuid }) || writer.isDeleted(sample.reference) {
        ordinal += 1
        sample.uuid = SampleIdentity.uuid(ofDrifting: sample, ordinal: ordinal)
      }
      var coder = ChangeCoder()
      for old in present { coder.add(Tombstone(sample: old.reference, deleted: .now)) }
      try coder.add(sample)
      try writer.write(coder.changes)
    }
    try writer.finish()
    var summary = writer.summary
    for (type, count) in unchanged { summary.add(.init(unchanged: count), of: type) }
    return summary
  }
}

extension Timestamp {
  fileprivate static let distantPast = Timestamp(microseconds: .min)
}
