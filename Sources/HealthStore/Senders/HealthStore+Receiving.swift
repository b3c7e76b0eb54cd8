import GRDB
import HealthModel

extension HealthStore {
  /// How many runs of changes are remembered of a sender as its own.
  private static let rememberedRuns = 4_096

  /// Adds everything that came in one message, in one transaction: all of it or nothing.
  ///
  /// - Parameters:
  ///   - readings: see ``add(readings:)``.
  ///   - road: how the samples came.
  ///   - sender: who sent it: of samples that came first from elsewhere, its copies may say more, but nothing else, and its readings
  ///     are its own. `nil` where any copy may take the place of a poorer one.
  ///   - crowd: how many samples of one type may lie within a second of one that is new: what is shown of them is a question of
  ///     each to all others.
  ///   - event: what the audit log is to have of it, in the same transaction; `nil` for nothing.
  ///   - admits: asked, within the transaction, whether what was sent belongs to the one whose record this is by now.
  /// - Returns: `nil` where there would be such a crowd, and nothing is changed.
  /// - Throws: ``StoreError/ownerChanged(path:)`` where it does not,
  ///   ``StoreError/lowSpace(path:free:needed:)`` where the disk is nearly full; nothing is changed then.
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

  /// Whether the store has `limit` samples about one of these instants already.
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
