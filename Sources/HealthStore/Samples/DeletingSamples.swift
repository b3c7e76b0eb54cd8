import Foundation
import GRDB
import HealthModel

extension HealthStore.Samples {
  /// Returns the number of shown samples of `type` that start within `range` and have one of `sources`, which are
  /// names. `nil` means all. Counting all samples of a type is free.
  public func count(
    of type: SampleType, in range: Range<Timestamp>?, from sources: Set<String>? = nil
  ) async throws(StoreError) -> Int {
    try await store.read { db in
      guard let id = try type.id(in: db) else { return 0 }
      if range == nil, sources == nil {
        return try Int.fetchOne(db, sql: "SELECT \(Visibility.shownSamples) FROM type WHERE id = ?", arguments: [id])
          ?? 0
      }
      let range = range ?? Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
      let condition = try FilterCondition.from(sources, db) + Visibility.condition(db)
      return try Int.fetchOne(
        db, sql: "SELECT COUNT(*) FROM sample WHERE type = ? AND start >= ? AND start < ?\(condition)",
        arguments: [id, range.lowerBound.microseconds, range.upperBound.microseconds]) ?? 0
    }
  }

  /// Deletes the samples of `type` that start within `range` and have one of `sources`, and adds tombstones. Returns
  /// the number of deleted samples that were shown; hidden copies are deleted too.
  ///
  /// Works in transactions of `step` samples, so that other writers get their turn. If it is interrupted, some
  /// samples are deleted.
  ///
  /// - Parameters:
  ///   - sources: the names of sources; `nil` for all.
  ///   - event: returns the audit event for a transaction that deleted `count` shown samples. It is written in the
  ///     same transaction.
  public func delete(
    _ type: SampleType, in range: Range<Timestamp>, from sources: Set<String>? = nil, step: Int = 10_000,
    event: (@Sendable (_ count: Int) -> AuditEvent)? = nil
  ) async throws(StoreError) -> Int {
    let step = max(1, step)
    var total = 0
    while true {
      let (deleted, shown) = try await store.write { [store] db -> (Int, Int) in
        guard let id = try type.id(in: db) else { return (0, 0) }
        let now = store.now
        var deletions = CodedChanges(types: [type])
        var shown = 0
        var dictionary = StoredDictionary<Source>.all
        var query = try Binding(
          db,
          """
          SELECT start, uuid, duration, source, road, isHidden, statement
          FROM sample LEFT JOIN visibility ON sample = change
          WHERE sample.type = ? AND start >= ? AND start < ?\(try FilterCondition.from(sources, db)) LIMIT ?
          """)
        query.bind(id)
        query.bind(range.lowerBound.microseconds)
        query.bind(range.upperBound.microseconds)
        query.bind(Int64(step))
        try query.rows(db) { row in
          let start = row.integer(0)
          let uuid = try row.uuid(1)
          // One that a tombstone could not have names nothing that goes with it.
          let statement = try row.statement(6).flatMap { SampleWriter.isFit($0, of: uuid) ? $0 : nil }
          if let statement { deletions.statements.append(statement) }
          deletions.tombstones.append(
            CodedTombstone(
              type: 0, start: Timestamp(microseconds: start), uuid: statement?.content ?? uuid, deleted: now,
              end: Timestamp(microseconds: start &+ row.integer(2)),
              source: try dictionary.index(of: row.integer(3), db),
              road: SampleRoad(stored: row.integer(4)),
              statement: statement.map { _ in UInt32(deletions.statements.count - 1) }))
          if row.integer(5) == 0 { shown += 1 }
          return true
        }
        guard !deletions.isEmpty else { return (0, 0) }
        deletions.sources = dictionary.values
        var writer = try SampleWriter(db, epochs: store.epochs, now: now)
        try writer.write(try BareCopies(db).adding(to: deletions))
        try writer.finish()
        if let event { try AuditChain.append(event(shown), db) }
        return (deletions.count, shown)
      }
      total += shown
      if deleted < step { return total }
    }
  }
}
