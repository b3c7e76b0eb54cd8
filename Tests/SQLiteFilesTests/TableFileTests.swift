import Foundation
import GRDB
import SQLiteFiles
import TestSupport
import Testing

@Suite struct TableFileTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory(inMemory: true) }

  private func file(_ name: String = "a.db") throws -> TableFile {
    try TableFile(path: folder.path(name)) { table in
      table == "keyed" ? [TableFile.Column("id", "TEXT PRIMARY KEY")] : [TableFile.Column("Value", "TEXT")]
    }
  }

  private func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) throws -> Value {
    try DatabaseQueue(path: folder.path("a.db")).read(body)
  }

  /// Returns all rows of a table, by column.
  private func rows(_ table: String) throws -> [[String: String]] {
    try read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM \(table)").map { row in
        Dictionary(
          uniqueKeysWithValues: row.columnNames.compactMap { name in
            (row[name] as String?).map { (name, $0) }
          })
      }
    }
  }

  private func row(_ table: String, _ fields: [(String, String)]) -> TableFile.Row {
    TableFile.Row(table: table, columns: fields.map(\.0), values: fields.map { .text($0.1) })
  }

  @Test func tablesAndColumnsComeWithTheirRows() throws {
    let file = try file()
    try file.makeTable("empty")
    try file.insert([
      row("a \"b\"", [("Value", "1"), ("x\"y", "\u{0}é")]),
      TableFile.Row(table: "a \"b\"", columns: ["value", "n"], values: [.null, .number(1.5)]),
      row("A \"B\"", [("value", "2")]),
    ])
    try file.insert([row("a \"b\"", [("later", "z")])])
    try file.finish()
    let names = try read { try String.fetchAll($0, sql: "SELECT name FROM sqlite_master ORDER BY name") }
    #expect(names == ["a \"b\"", "empty"])
    let rows = try rows(#""a ""b""""#)
    #expect(rows.map { $0["Value"] } == ["1", nil, "2", nil])
    #expect(rows.map { $0["n"] } == [nil, "1.5", nil, nil])
    #expect(try read { try Int.fetchOne($0, sql: "SELECT length(CAST(\"x\"\"y\" AS BLOB)) FROM \"a \"\"b\"\"\"") } == 3)
    #expect(rows[3]["later"] == "z")
  }

  /// SQLite treats `metadata_Meal` and `metadata_meal` as the same column, and rejects more than 2000 columns.
  @Test func whatFindsNoColumnIsInOne() throws {
    let file = try file()
    let many = (0..<2_100).map { ("key\($0)", "\($0)") }
    try file.insert([
      row("food", [("metadata_meal", "a")]), row("food", [("metadata_Meal", "b")]),
      row("food", [("metadata_Meal", "c"), ("metadata_meal", "d"), ("metadata", "e")]), row("many", many),
    ])
    try file.finish()
    let rows = try rows("food")
    #expect(rows.map { $0["metadata_meal"] } == ["a", "b", "c"])
    #expect(rows.map { $0["metadata"] } == [nil, nil, #"{"metadata":"e","metadata_meal":"d"}"#])
    let rest = try #require(try read { try String.fetchOne($0, sql: "SELECT metadata FROM many") })
    let object = try JSONDecoder().decode([String: String].self, from: Data(rest.utf8))
    #expect(object.count == 2_100 - 1_899)
    #expect(object["key2099"] == "2099")
  }

  @Test func aKeyThatIsThereIsLeftOut() throws {
    let file = try file()
    try file.insert([row("keyed", [("id", "1"), ("a", "x")]), row("keyed", [("id", "1"), ("a", "y")])])
    try file.finish()
    #expect(try read { try String.fetchAll($0, sql: "SELECT a FROM keyed") } == ["x"])
  }

  /// The rows have more combinations of columns than the number of statements kept at a time.
  @Test func rowsOfAnyColumns() throws {
    let file = try file()
    try file.insert((0..<500).map { row("t", [("c\($0 % 100)", "\($0)")]) })
    try file.finish()
    #expect(
      try read { try String.fetchAll($0, sql: "SELECT c7 FROM t WHERE c7 NOT NULL") } == [
        "7", "107", "207", "307", "407",
      ])
  }

  @Test func nothingIsBesideTheFile() throws {
    let file = try file()
    try file.insert((0..<20_000).map { row("t", [("value", String(repeating: "x", count: 200) + "\($0)")]) })
    // Some of it has been written, because it does not fit into memory.
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.db"])
    try file.finish()
    #expect(try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 20_000)
    #expect(try read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
  }

  @Test func whereNothingCanBeWrittenItSaysSo() throws {
    #expect(throws: TableFile.Failure.self) { try file("no/such/folder.db") }
  }
}
