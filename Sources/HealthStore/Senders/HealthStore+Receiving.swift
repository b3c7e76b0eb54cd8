import GRDB
import HealthModel

extension HealthStore {
  /// Adds everything that came in one message, in one transaction: all of it or nothing.
  ///
  /// - Parameters:
  ///   - drifting: see ``replace(drifting:)``.
  ///   - road: how the samples came.
  ///   - event: what the audit log is to have of it, in the same transaction; `nil` for nothing.
  ///   - admits: asked, within the transaction, whether what was sent belongs to the one whose record this is by now.
  /// - Throws: ``StoreError/ownerChanged(path:)`` where it does not, and nothing is changed.
  public func receive(
    _ batches: [CodedChanges], drifting: [Sample], road: SampleRoad,
    event: @escaping @Sendable (WriteSummary) -> AuditEvent? = { _ in nil },
    if admits: @escaping @Sendable (RecordOwner) -> Bool
  ) async throws(StoreError) -> WriteSummary {
    try await write { [self] db -> WriteSummary in
      guard admits(try RecordOwner(db)) else { throw StoreError.ownerChanged(path: path) }
      var writer = try SampleWriter(db, epochs: epochs, road: road)
      for changes in batches { try writer.write(changes) }
      try writer.finish()
      var summary = writer.summary
      if !drifting.isEmpty { summary += try replace(drifting: drifting, road: road, db: db) }
      if let event = event(summary) { try AuditChain.append(event, db) }
      return summary
    }
  }
}
