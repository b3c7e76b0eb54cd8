import GRDB

/// The tables and indexes of a database, as SQLite describes them: a database that another program has changed is told
/// from one that its own program made, however the statements were spaced.
public struct DatabaseShape: Equatable, Sendable {
  /// The description of each table and index, by its name. Tables of SQLite itself (`sqlite_…`) are left out.
  private let objects: [String: [String]]

  /// Reads the shape of a database.
  ///
  /// ```swift
  /// import GRDB
  ///
  /// func requireTables(_ db: Database, like expected: DatabaseShape) throws {
  ///   if let name = try DatabaseShape(db).firstDifference(from: expected) { print(name, "is foreign or changed") }
  /// }
  /// ```
  public init(_ db: Database) throws {
    var objects: [String: [String]] = [:]
    let tables = try Row.fetchAll(db, sql: "SELECT name, wr, strict FROM pragma_table_list WHERE schema = 'main'")
    for table in tables {
      let name: String = table["name"]
      if name.hasPrefix("sqlite_") { continue }
      objects[name] =
        try Self.lines(of: name, db) + ["rowid: \(table["wr"] as Int == 0), strict: \(table["strict"] as Int)"]
      for index in try Row.fetchAll(
        db, sql: "SELECT name, \"unique\", origin, partial FROM pragma_index_list(?)", arguments: [name])
      {
        let indexName: String = index["name"]
        let columns = try Row.fetchAll(
          db, sql: "SELECT name, desc, coll, key FROM pragma_index_xinfo(?) ORDER BY seqno", arguments: [indexName])
        objects[indexName] = ["\(name): \(index)"] + columns.map { "\($0)" } + (try Self.condition(of: indexName, db))
      }
    }
    self.objects = objects
  }

  /// Returns the name of a table or index that this database has and the other lacks, or the other way round, or that is
  /// another there; nil if both are alike.
  public func firstDifference(from other: DatabaseShape) -> String? {
    Set(objects.keys).union(other.objects.keys).sorted().first { objects[$0] != other.objects[$0] }
  }

  private static func lines(of table: String, _ db: Database) throws -> [String] {
    let columns = try Row.fetchAll(
      db, sql: "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid",
      arguments: [table])
    let keys = try Row.fetchAll(
      db,
      sql: "SELECT \"table\", \"from\", \"to\", on_update, on_delete FROM pragma_foreign_key_list(?) ORDER BY id, seq",
      arguments: [table])
    return (columns + keys).map { "\($0)" }
  }

  /// The condition of a partial index, without its spaces.
  private static func condition(of index: String, _ db: Database) throws -> [String] {
    guard
      let sql = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [index]),
      let condition = sql.range(of: " WHERE ")
    else { return [] }
    return [String(sql[condition.upperBound...].filter { !$0.isWhitespace })]
  }
}
