import GRDB
import HealthModel

/// When readings were said again, later than they say themselves: one that is held is not written anew. Only this machine knows it;
/// the row goes with that of the sample.
enum Repetition {
  /// - Parameter change: the number of the reading.
  static func last(of change: Int64, _ db: Database) throws -> Timestamp? {
    var query = try Binding(db, "SELECT said FROM repetition WHERE sample = ?")
    query.bind(change)
    return try query.integer(db).map(Timestamp.init(microseconds:))
  }

  /// By the numbers of the readings.
  static func all(_ db: Database) throws -> [Int64: Timestamp] {
    var all: [Int64: Timestamp] = [:]
    try Binding(db, "SELECT sample, said FROM repetition").rows(db) { row in
      all[row.integer(0)] = Timestamp(microseconds: row.integer(1))
      return true
    }
    return all
  }

  /// Takes note of it, unless it was said later still.
  static func note(_ time: Timestamp, of change: Int64, _ db: Database) throws {
    var statement = try Binding(
      db,
      """
      INSERT INTO repetition(sample, said) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET said = excluded.said WHERE said < excluded.said
      """)
    statement.bind(change)
    statement.bind(time.microseconds)
    try statement.run(db)
  }
}
