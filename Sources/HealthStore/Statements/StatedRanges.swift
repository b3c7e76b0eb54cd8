import GRDB
import HealthModel

/// The dates of the exports that assigned change numbers, by ranges of numbers. With them, a key with several records
/// can be compared with its single record from an earlier export. Numbers are assigned once, so no range is ever
/// removed.
enum StatedRanges {
  /// Returns the date of the export that brought a change, or `nil` if it came from no export with a date.
  static func said(_ change: Int64, _ db: Database) throws -> Timestamp? {
    var query = try Binding(db, "SELECT last, said FROM statedRange WHERE first <= ? ORDER BY first DESC LIMIT 1")
    query.bind(change)
    guard let (last, said) = try query.integers(db), last >= change else { return nil }
    return Timestamp(microseconds: said)
  }

  static func add(_ numbers: ClosedRange<Int64>, said: Timestamp, _ db: Database) throws {
    try db.execute(
      sql: "UPDATE statedRange SET last = ? WHERE last = ? AND said = ?",
      arguments: [numbers.upperBound, numbers.lowerBound - 1, said.microseconds])
    if db.changesCount > 0 { return }
    try db.execute(
      sql: "INSERT INTO statedRange(first, last, said) VALUES (?, ?, ?)",
      arguments: [numbers.lowerBound, numbers.upperBound, said.microseconds])
  }
}
