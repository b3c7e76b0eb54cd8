import GRDB
import HealthModel

extension HealthStore {
  /// The maximum number of ranges of change numbers that are remembered for a sender.
  private static let rememberedRuns = 4_096

  /// Adds the content of one message, in one transaction.
  ///
  /// - Parameters:
  ///   - readings: see ``add(readings:)``.
  ///   - road: the road by which the samples came.
  ///   - sender: the sender of the message, or `nil` if any better copy may replace another. A sender's copy of a
  ///     sample that came first from elsewhere may add details, but change nothing else. Its readings are separate
  ///     from those of others.
  ///   - crowd: the number of samples of one type within a second of a new one from which the message is refused,
  ///     because each sample's visibility depends on all others.
  ///   - event: returns the audit event, which is written in the same transaction; `nil` for none.
  ///   - admits: returns, within the transaction, whether the message belongs to the store's current owner.
  /// - Returns: the summary, or `nil` if the message was refused because of such a crowd. Nothing is changed then.
  /// - Throws: ``StoreError/ownerChanged(path:)`` if `admits` returns false,
  ///   ``StoreError/lowSpace(path:free:needed:)`` if the disk is nearly full. Nothing is changed then.
  public func receive(
    _ batches: [CodedChanges], readings: [Sample], road: SampleRoad,
    from sender: String? = nil, crowd: Int = 1_000,
    event: @escaping @Sendable (WriteSummary) -> AuditEvent? = { _ in nil },
    if admits: @escaping @Sendable (RecordOwner) -> Bool
  ) async throws(StoreError) -> WriteSummary? {
    try await write { [self] db -> WriteSummary? in
      try requireRoomBlocking(for: batches)
      if !readings.isEmpty { try requireRoomBlocking() }
      guard admits(try RecordOwner(db)) else { throw StoreError.ownerChanged(path: path) }
      if try Self.isCrowded(batches, readings, crowd, db) { return nil }
      let before = try Schema.counter(db)
      let sent = try sender.map { try SentChanges.read($0, db) }
      var writer = try SampleWriter(db, epochs: epochs, now: now, road: road, ownChanges: sent)
      for changes in batches { try writer.write(changes) }
      try writer.finish()
      if let sender { try SentChanges.note(sender, after: before, limit: Self.rememberedRuns, db) }
      var summary = writer.summary
      if !readings.isEmpty { summary += try add(readings: readings, road: road, sender: sender ?? "", db: db) }
      if let event = event(summary) { try AuditChain.append(event, db) }
      return summary
    }
  }

  /// Returns whether the store already has `limit` samples close to one of the starts.
  private static func isCrowded(
    _ batches: [CodedChanges], _ readings: [Sample], _ limit: Int, _ db: Database
  ) throws -> Bool {
    var starts: [SampleType: Set<Int64>] = [:]
    for changes in batches {
      for sample in changes.samples {
        starts[changes.types[Int(sample.type)], default: []].insert(sample.start.microseconds)
      }
    }
    for sample in readings { starts[sample.type, default: []].insert(sample.start.microseconds) }
    for (type, starts) in starts {
      guard let id = try type.id(in: db) else { continue }
      for start in starts {
        let (first, isBefore) = start.subtractingReportingOverflow(1_000_000)
        let (last, isAfter) = start.addingReportingOverflow(1_000_000)
        var query = try Binding(
          db, "SELECT COUNT(*) FROM (SELECT 1 FROM sample WHERE type = ? AND start BETWEEN ? AND ? LIMIT ?)")
        query.bind(id)
        query.bind((isBefore ? .min : first)...(isAfter ? .max : last))
        query.bind(Int64(limit))
        if try query.integer(db) ?? 0 >= Int64(limit) { return true }
      }
    }
    return false
  }
}
