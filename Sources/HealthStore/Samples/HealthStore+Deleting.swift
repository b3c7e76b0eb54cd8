import Foundation
import GRDB
import HealthModel

extension HealthStore {
  /// How many samples of `type` start within `range`; all of them where it is `nil`, which costs nothing to count.
  public func count(of type: SampleType, in range: Range<Timestamp>?) async throws(StoreError) -> Int {
    try await read { db in
      guard let id = try type.id(in: db) else { return 0 }
      guard let range else {
        return try Int.fetchOne(db, sql: "SELECT samples FROM type WHERE id = ?", arguments: [id]) ?? 0
      }
      return try Int.fetchOne(
        db, sql: "SELECT COUNT(*) FROM sample WHERE type = ? AND start >= ? AND start < ?",
        arguments: [id, range.lowerBound.microseconds, range.upperBound.microseconds]) ?? 0
    }
  }

  /// Deletes the samples of `type` that start within `range`, leaving tombstones. Returns how many there were.
  ///
  /// Works in transactions of `step` samples, so that other writers get their turn; interrupted, it has deleted some.
  ///
  /// - Parameter event: what the audit log gets to hold for a transaction that deleted so many, together with it.
  public func delete(
    _ type: SampleType, in range: Range<Timestamp>, step: Int = 10_000,
    event: (@Sendable (_ count: Int) -> AuditEvent)? = nil
  ) async throws(StoreError) -> Int {
    let step = max(1, step)
    var total = 0
    while true {
      let deleted = try await write { [epochs] db in
        guard let id = try type.id(in: db) else { return 0 }
        let now = Timestamp.now
        var deletions = CodedChanges(types: [type])
        var query = try Binding(
          db, "SELECT start, uuid FROM sample WHERE type = ? AND start >= ? AND start < ? LIMIT ?")
        query.bind(id)
        query.bind(range.lowerBound.microseconds)
        query.bind(range.upperBound.microseconds)
        query.bind(Int64(step))
        try query.rows(db) { row in
          deletions.tombstones.append(
            CodedTombstone(
              type: 0, start: Timestamp(microseconds: row.integer(0)), uuid: try row.uuid(1), deleted: now))
          return true
        }
        guard !deletions.isEmpty else { return 0 }
        var writer = try SampleWriter(db, epochs: epochs)
        try writer.write(try BareCopies(db).adding(to: deletions))
        try writer.finish()
        if let event { try AuditChain.append(event(deletions.count), db) }
        return deletions.count
      }
      total += deleted
      if deleted < step { return total }
    }
  }
}
