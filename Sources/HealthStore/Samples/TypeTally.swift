import GRDB
import HealthModel

/// What one transaction does to the samples of one type.
struct TypeTally {
  /// Whether the UUID of a row is derived, in SQL.
  static let isDerived = isDerived("uuid")

  /// Whether the UUID in a column is derived, in SQL.
  static func isDerived(_ column: String) -> String {
    "substr(hex(\(column)), 13, 1) = '5' AND substr(hex(\(column)), 17, 1) IN ('8', '9', 'A', 'B')"
  }

  /// The count kept with the type when the transaction began.
  private let samples: Int
  private let derived: Int
  var added = 0
  var addedDerived = 0
  var removed = 0
  var removedDerived = 0
  /// Samples that were in the store already.
  var unchanged = 0
  /// Samples that were not added because there is a tombstone for them.
  var refused = 0
  /// Whether the type has any tombstone. Most have none, and then no lookup is needed.
  var hasTombstones: Bool

  /// - Parameter type: its row id.
  init(_ type: Int64, _ db: Database) throws {
    var counting = try Binding(db, "SELECT samples, derived FROM type WHERE id = ?")
    counting.bind(type)
    let counts = try counting.integers(db) ?? (0, 0)
    (samples, derived) = (Int(counts.0), Int(counts.1))
    var looking = try Binding(db, "SELECT 1 FROM tombstone WHERE type = ? LIMIT 1")
    looking.bind(type)
    hasTombstones = try looking.integer(db) != nil
  }

  /// Whether there are samples now whose UUIDs are derived from their content.
  var hasDerived: Bool { derived + addedDerived > removedDerived }
  /// Whether there are samples now whose UUIDs are HealthKit's own.
  var hasOriginal: Bool { samples - derived + added - addedDerived > removed - removedDerived }

  /// Whether one of its samples may be one with another that came by another road, or may have been deleted there.
  var isMixed: Bool { hasTombstones || hasDerived && hasOriginal }

  func write(_ type: Int64, _ db: Database) throws {
    if added == removed, addedDerived == removedDerived { return }
    try db.execute(
      sql: "UPDATE type SET samples = samples + ?, derived = derived + ? WHERE id = ?",
      arguments: [added - removed, addedDerived - removedDerived, type])
  }
}

extension WriteSummary {
  mutating func add(_ tally: TypeTally, of type: SampleType) {
    add(
      Counts(added: tally.added, deleted: tally.removed, unchanged: tally.unchanged, refused: tally.refused), of: type)
  }
}
