import Foundation
import GRDB
import HealthModel

extension HealthStore {
  /// How many samples of `type` start within `range`.
  public func count(of type: SampleType, in range: Range<Timestamp>) async throws(StoreError) -> Int {
    try await read { db in
      guard let id = try type.id(in: db) else { return 0 }
      return try Int.fetchOne(
        db, sql: "SELECT COUNT(*) FROM sample WHERE type = ? AND start >= ? AND start < ?",
        arguments: [id, range.lowerBound.microseconds, range.upperBound.microseconds]) ?? 0
    }
  }

  /// Deletes the samples of `type` that start within `range`, leaving tombstones. Returns how many there were.
  ///
  /// Works in transactions of `step` samples, so that other writers get their turn; interrupted, it has deleted some.
  public func delete(
    _ type: SampleType, in range: Range<Timestamp>, step: Int = 10_000
  ) async throws(StoreError) -> Int {
    let step = max(1, step)
    var total = 0
    while true {
      let deleted = try await write { [epochs] db in
        guard let id = try type.id(in: db) else { return 0 }
        let rows = try Row.fetchAll(
          db, sql: "SELECT start, uuid FROM sample WHERE type = ? AND start >= ? AND start < ? LIMIT ?",
          arguments: [id, range.lowerBound.microseconds, range.upperBound.microseconds, step])
        guard !rows.isEmpty else { return 0 }
        let now = Timestamp.now
        var writer = try SampleWriter(db, epochs: epochs)
        for row in rows {
          let reference = SampleReference(
            type: type, start: Timestamp(microseconds: row[0]), uuid: try SampleRow.uuid(row[1]))
          try writer.delete(Tombstone(sample: reference, deleted: now))
        }
        try writer.finish()
        return rows.count
      }
      total += deleted
      if deleted < step { return total }
    }
  }
}
