import Foundation
import GRDB
import HealthModel

/// The samples that were removed without a tombstone, for consumers that may have them: by undoing an import, or
/// because the sample continues with a finer start or another source. They are numbered in a sequence of their own,
/// and kept until every consumer has passed them.
enum WithdrawnSamples {
  /// Returns the highest number that was assigned and is still relevant.
  static func last(_ db: Database) throws -> Int64 {
    try Int64.fetchOne(
      db,
      sql: """
        SELECT MAX(
          COALESCE((SELECT MAX(number) FROM undoneSample), 0), COALESCE((SELECT MAX(undone) FROM consumer), 0))
        """) ?? 0
  }

  /// Adds all samples after a change number, which are about to be removed.
  static func add(after change: Int64, _ db: Database) throws {
    let last = try last(db)
    try db.execute(
      sql: """
        INSERT INTO undoneSample(number, type, start, uuid, deleted)
        SELECT ? + ROW_NUMBER() OVER (ORDER BY change), identifier, start, uuid, ?
        FROM sample NOT INDEXED JOIN type ON type.id = sample.type WHERE change > ?
        """, arguments: [last, Timestamp.now.microseconds, change])
  }

  /// Adds one sample, if any consumer exists.
  static func add(_ type: SampleType, start: Int64, _ uuid: UUID, _ db: Database) throws {
    guard try ConsumerRow.exists(db) else { return }
    var insertion = try Binding(
      db, "INSERT INTO undoneSample(number, type, start, uuid, deleted) VALUES (?, ?, ?, ?, ?)")
    insertion.bind(try last(db) + 1)
    insertion.bind(type.rawValue)
    insertion.bind(start)
    insertion.bind(uuid)
    insertion.bind(Timestamp.now.microseconds)
    try insertion.run(db)
  }

  /// Returns the samples after a number that pass any of some filters, as tombstones, and the number of the last one
  /// examined.
  static func after(
    _ number: Int64, upTo end: Int64 = .max, passing filters: [SampleFilter], limit: Int, _ db: Database
  ) throws -> (changes: CodedChanges, last: Int64) {
    var coder = ChangeCoder()
    var (last, count) = (number, 0)
    var query = try Binding(
      db, "SELECT number, type, start, uuid, deleted FROM undoneSample WHERE number > ? AND number <= ? ORDER BY number"
    )
    query.bind(number)
    query.bind(end)
    try query.rows(db) { row in
      last = row.integer(0)
      let sample = SampleReference(
        type: SampleType(row.text(1) ?? ""), start: Timestamp(microseconds: row.integer(2)), uuid: try row.uuid(3))
      if filters.contains(where: { $0.passes(sample) }) {
        coder.add(Tombstone(sample: sample, deleted: Timestamp(microseconds: row.integer(4))))
        count += 1
      }
      return count < limit
    }
    return (coder.changes, last)
  }

  /// Deletes the samples that every consumer has passed.
  static func prune(_ db: Database) throws {
    try db.execute(
      sql: "DELETE FROM undoneSample WHERE number <= COALESCE((SELECT MIN(undone) FROM consumer), number)")
  }
}
