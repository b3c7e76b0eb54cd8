import GRDB
import HealthModel

/// The times at which readings, or the records of a key, were reported again without a change. They are not written
/// again then. Only this machine has these times, and they are deleted with their samples.
enum Repetition {
  /// Returns the time of the last repetition.
  ///
  /// - Parameter change: the change number of the reading.
  static func last(of change: Int64, _ db: Database) throws -> Timestamp? {
    var query = try Binding(db, "SELECT said FROM repetition WHERE sample = ?")
    query.bind(change)
    return try query.integer(db).map(Timestamp.init(microseconds:))
  }

  /// Returns all times, by change number.
  static func all(_ db: Database) throws -> [Int64: Timestamp] {
    var all: [Int64: Timestamp] = [:]
    try Binding(db, "SELECT sample, said FROM repetition").rows(db) { row in
      all[row.integer(0)] = Timestamp(microseconds: row.integer(1))
      return true
    }
    return all
  }

  /// Takes note of it, unless it was said later still. What was noted before the import that can be undone is kept.
  static func note(_ time: Timestamp, of change: Int64, _ db: Database) throws {
    try keep(change, db)
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

  // MARK: Undoing an import

  /// Keeps what is noted of a reading, as it was before the import that can be undone.
  static func keep(_ change: Int64, _ db: Database) throws {
    var statement = try Binding(
      db,
      """
      INSERT INTO undoRepetition(sample, said)
      SELECT ?1, (SELECT said FROM repetition WHERE sample = ?1) WHERE EXISTS(SELECT 1 FROM undo WHERE isKept)
      ON CONFLICT DO NOTHING
      """)
    statement.bind(change)
    try statement.run(db)
  }

  /// Takes note of what an import said that changed nothing: undoing the one before it takes none of that back.
  static func noteApart(_ time: Timestamp, of change: Int64, _ db: Database) throws {
    try note(time, of: change, db)
    var statement = try Binding(db, "UPDATE undoRepetition SET said = MAX(IFNULL(said, ?1), ?1) WHERE sample = ?2")
    statement.bind(time.microseconds)
    statement.bind(change)
    try statement.run(db)
  }

  /// Gives all readings what was noted of them before the import.
  static func undo(_ db: Database) throws {
    try db.execute(
      sql: """
        DELETE FROM repetition WHERE sample IN (SELECT sample FROM undoRepetition);
        INSERT INTO repetition(sample, said)
          SELECT sample, said FROM undoRepetition
          WHERE said IS NOT NULL AND EXISTS(SELECT 1 FROM sample WHERE change = undoRepetition.sample);
        """)
  }

  /// Gives a reading that comes back under another number what was noted of it.
  static func undo(_ former: Int64, as change: Int64, _ db: Database) throws {
    var statement = try Binding(
      db,
      "INSERT INTO repetition(sample, said) SELECT ?, said FROM undoRepetition WHERE sample = ? AND said IS NOT NULL")
    statement.bind(change)
    statement.bind(former)
    try statement.run(db)
  }
}
