import GRDB

/// Objects in a database that its own program did not create. A trigger runs with every write, and a view or a
/// virtual table with every read: such an object could hide reads from the audit log.
public enum ForeignObjects {
  /// Returns the name of the first trigger, view or virtual table that is not in `known`, or `nil` if there is none.
  ///
  /// ```swift
  /// import GRDB
  ///
  /// func requireOwn(_ db: Database) throws {
  ///   if let name = try ForeignObjects.first(in: db, known: []) { print(name, "is foreign") }
  /// }
  /// ```
  ///
  /// - Parameter known: the SQL statements that create the program's own objects. White space is not compared.
  public static func first(in db: Database, known: [String]) throws -> String? {
    let known = Set(known.map(spaced))
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT name, sql FROM sqlite_master
        WHERE type NOT IN ('table', 'index') OR type = 'table' AND sql LIKE 'CREATE VIRTUAL%' ORDER BY name
        """)
    for row in rows {
      guard let sql = String.fromDatabaseValue(row["sql"]), known.contains(spaced(sql)) else {
        return String.fromDatabaseValue(row["name"]) ?? "something without a name"
      }
    }
    return nil
  }

  private static func spaced(_ sql: String) -> String {
    sql.split { $0.isWhitespace || $0 == ";" }.joined(separator: " ")
  }
}
