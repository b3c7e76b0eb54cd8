import GRDB

/// The samples of a store that imported exports contained, and those that the current import has encountered.
///
/// It is kept across the transactions of one import. What a transaction encounters is saved with it.
struct ImportTrail {
  /// The change numbers of samples that any export contained, including the current one.
  private(set) var imported = ChangeNumbers()
  /// The change numbers of samples and tombstones that the current import has encountered.
  private(set) var met = ChangeNumbers()
  /// The change numbers encountered in this transaction that no earlier import has encountered.
  private var fresh: [Int64] = []

  init(_ db: Database) throws {
    imported = try Self.numbers("importedRange", db)
  }

  /// Returns the numbers in the ranges of a table.
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

  /// Records that the import has encountered a sample. Apple exports contain the members of correlations twice.
  ///
  /// - Returns: whether this is the first time.
  mutating func meet(_ change: Int64) -> Bool {
    if imported.insert(change) { fresh.append(change) }
    return met.insert(change)
  }

  /// Records that the import has encountered a deleted sample.
  ///
  /// - Returns: whether this is the first time.
  mutating func meet(deletion change: Int64) -> Bool { met.insert(change) }

  /// Saves the new numbers, in the transaction in which they were encountered.
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

  /// Returns whether any export contained the sample with this change number.
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
