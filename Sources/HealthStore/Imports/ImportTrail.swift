import GRDB

/// Which samples of a store the exports that were imported here have held, and which of them this import has met.
///
/// Kept across the transactions of one import; what a transaction has met is written with it.
struct ImportTrail {
  /// Change numbers of samples that any export held, this one included.
  private(set) var imported = ChangeNumbers()
  /// Change numbers of samples and deletions that this import has met.
  private(set) var met = ChangeNumbers()
  /// Change numbers met in this transaction, and by no import before.
  private var fresh: [Int64] = []

  init(_ db: Database) throws {
    imported = try Self.numbers("importedRange", db)
  }

  /// The numbers in the ranges of a table.
  static func numbers(_ table: String, _ db: Database) throws -> ChangeNumbers {
    var numbers = ChangeNumbers()
    // More than any store has numbers: a bit of memory is held for each.
    let limit = min(try Schema.counter(db), 1 << 33)
    let rows = try Row.fetchCursor(db, sql: "SELECT first, last FROM \(table)")
    while let row = try rows.next() {
      let (first, last): (Int64, Int64) = (row[0], row[1])
      guard first >= 0, first <= last, last <= limit else {
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the ranges of imported samples make no sense")
      }
      numbers.insert(first...last)
    }
    return numbers
  }

  /// - Returns: whether this import meets the sample for the first time. Apple prints the members of correlations twice.
  mutating func meet(_ change: Int64) -> Bool {
    if imported.insert(change) { fresh.append(change) }
    return met.insert(change)
  }

  /// - Returns: whether this import meets the deletion for the first time.
  mutating func meet(deletion change: Int64) -> Bool { met.insert(change) }

  /// Within the transaction in which they were met.
  mutating func write(_ db: Database) throws {
    fresh.sort()
    var start = 0
    while start < fresh.count {
      var end = start
      while end + 1 < fresh.count, fresh[end + 1] == fresh[end] + 1 { end += 1 }
      try Self.write(fresh[start]...fresh[end], db)
      start = end + 1
    }
    fresh.removeAll(keepingCapacity: true)
  }

  /// Whether any export held the sample with this change number.
  static func contains(_ change: Int64, _ db: Database) throws -> Bool {
    var query = try Binding(db, "SELECT last FROM importedRange WHERE first <= ? ORDER BY first DESC LIMIT 1")
    query.bind(change)
    return try query.integer(db).map { $0 >= change } ?? false
  }

  static func write(_ range: ClosedRange<Int64>, _ db: Database) throws {
    try db.execute(
      sql:
        "UPDATE importedRange SET last = ? WHERE first = (SELECT MAX(first) FROM importedRange WHERE first < ?) AND last = ?",
      arguments: [range.upperBound, range.lowerBound, range.lowerBound - 1])
    if db.changesCount > 0 { return }
    // Another process may import the same file.
    try db.execute(
      sql: """
        INSERT INTO importedRange(first, last) VALUES (?, ?)
        ON CONFLICT(first) DO UPDATE SET last = MAX(last, excluded.last)
        """, arguments: [range.lowerBound, range.upperBound])
  }
}
