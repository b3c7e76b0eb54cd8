import GRDB

/// What somebody has put into a database beside what its program made. A trigger runs with every write, and a view or a
/// virtual table with every read: one could hide reads from the audit log.
public enum ForeignObjects {
  /// The name of a trigger, a view or a virtual table that is none of `known`; `nil` where there is none.
  ///
  /// ```swift
  /// import GRDB
  ///
  /// func requireOwn(_ db: Database) throws {
  ///   if let name = try ForeignObjects.first(in: db, known: []) { print(name, "is foreign") }
  /// }
  /// ```
  ///
  /// - Parameter known: statements of SQL that make objects, however they are spaced.
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
