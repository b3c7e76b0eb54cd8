import GRDB
import HealthModel

/// When exports said what they brought, by change numbers: a key that several records have is compared with one that had a single one
/// when it came. Numbers are given out once, so that nothing is ever taken back.
enum StatedRanges {
  /// `nil` for what no export brought that says its date.
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
