import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// An SQLite database for other programs to read, written once from its first table to its last row.
///
/// A table is created with its first row, and a column with the first row that has it. Everything is one transaction
/// without a journal: if ``finish()`` is not called, discard the file.
///
/// ```swift
/// func write(_ names: [String], to path: String) throws {
///   let file = try TableFile(path: path) { _ in [TableFile.Column("name", "TEXT")] }
///   try file.insert(names.map { TableFile.Row(table: "people", columns: ["name"], values: [.text($0)]) })
///   try file.finish()
/// }
/// ```
///
/// All its methods block.
public final class TableFile: Sendable {
  public struct Column: Hashable, Sendable {
    public var name: String
    /// The column's type and constraints in SQL, for example `TEXT PRIMARY KEY`.
    public var declaration: String

    /// Creates a column. `declaration` is SQL, which is not checked.
    public init(_ name: String, _ declaration: String) {
      (self.name, self.declaration) = (name, declaration)
    }
  }

  public enum Value: Hashable, Sendable {
    case null
    case text(String)
    case number(Double)
  }

  public struct Row: Sendable {
    public var table: String
    public var columns: [String]
    public var values: [Value]

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - columns: any names. A value whose name cannot have a column of its own goes to ``TableFile/rest``: the
    ///     second of two names that SQLite treats as equal, and every name beyond the limit of a table.
    ///   - values: one value for each of `columns`.
    public init(table: String, columns: [String], values: [Value]) {
      (self.table, self.columns, self.values) = (table, columns, values)
    }
  }

  /// The reason why the file cannot be written.
  public enum Failure: Error, Hashable, Sendable {
    case diskFull
    /// Another error of SQLite.
    ///
    /// - Parameter reason: SQLite's message.
    case unwritable(reason: String)
  }

  /// The column for values without a column of their own, as a JSON object of strings. It is added when it is first
  /// needed.
  public static let rest = "metadata"
  /// The maximum number of columns of a table, below SQLite's limit of 2000. Every metadata key becomes a column.
  static let mostColumns = 1_900
  /// The size of SQLite's page cache, in bytes.
  private static let cache = 4 << 20

  /// The maximum number of prepared statements: rows with different metadata have different sets of columns.
  private static let mostStatements = 64

  /// The table and columns of rows that share one insert statement.
  private struct Shape: Hashable {
    var table: String
    var columns: [String]
  }

  /// The columns that a table has so far.
  private struct Table {
    /// The names of the columns by their names in lowercase, because SQLite ignores case.
    var columns: [String: String] = [:]
    var hasRest = false
  }

  private let queue: DatabaseQueue
  private let beginning: @Sendable (String) -> [Column]
  private let tables = Mutex<[String: Table]>([:])

  /// Creates the database and begins its transaction.
  ///
  /// - Parameters:
  ///   - path: the path of an empty file, or of no file.
  ///   - beginning: returns the columns that a table has before its first row.
  /// - Throws: ``Failure``.
  public init(path: String, beginning: @escaping @Sendable (_ table: String) -> [Column]) throws {
    self.beginning = beginning
    var configuration = Configuration()
    // The transaction lasts from one call to the next.
    configuration.allowsUnsafeTransactions = true
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { db in
      // A file that is not finished is thrown away, and the caller of `finish` syncs the file to disk.
      try db.execute(
        sql: """
          PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
          PRAGMA cache_size = -\(Self.cache >> 10);
          """)
    }
    do {
      queue = try DatabaseQueue(path: path, configuration: configuration)
      try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN") }
    } catch {
      throw Self.failure(error)
    }
  }

  /// Creates a table, so that it exists even if it gets no rows. Throws ``Failure``.
  public func makeTable(_ name: String) throws {
    try writing { db, tables in _ = try self.table(name, in: &tables, db) }
  }

  /// Inserts rows. A row whose primary key exists already is left out. Throws ``Failure``.
  public func insert(_ rows: [Row]) throws {
    try writing { db, tables in
      var insertions: [Shape: Insertion] = [:]
      for row in rows {
        let shape = Shape(table: row.table, columns: row.columns)
        let insertion = try insertions[shape] ?? self.insertion(of: row, in: &tables, db)
        if insertions[shape] == nil {
          if insertions.count == Self.mostStatements { insertions.removeAll(keepingCapacity: true) }
          insertions[shape] = insertion
        }
        try insertion.run(row.values)
      }
    }
  }

  /// Commits the transaction and closes the file, without syncing it to disk. Throws ``Failure``.
  public func finish() throws {
    try writing { db, _ in try db.execute(sql: "COMMIT") }
    do {
      try queue.close()
    } catch {
      throw Self.failure(error)
    }
  }

  private func writing(_ body: (Database, inout [String: Table]) throws -> Void) throws {
    do {
      try queue.writeWithoutTransaction { db in try tables.withLock { try body(db, &$0) } }
    } catch {
      throw Self.failure(error)
    }
  }

  private static func failure(_ error: any Error) -> Failure {
    guard let error = error as? DatabaseError else { return error as? Failure ?? .unwritable(reason: "\(error)") }
    return error.resultCode == .SQLITE_FULL ? .diskFull : .unwritable(reason: error.message ?? "\(error.resultCode)")
  }

  // MARK: Tables

  private func table(_ name: String, in tables: inout [String: Table], _ db: Database) throws -> Table {
    let key = Self.folded(name)
    if let table = tables[key] { return table }
    let columns = beginning(name)
    let list = columns.map { "\(Self.quoted($0.name)) \($0.declaration)" }.joined(separator: ", ")
    try db.execute(sql: "CREATE TABLE \(Self.quoted(name)) (\(list))")
    let table = Table(
      columns: Dictionary(columns.map { (Self.folded($0.name), $0.name) }, uniquingKeysWith: { one, _ in one }))
    tables[key] = table
    return table
  }

  /// Returns the insertion for rows with the columns of `row`. Creates the table and columns that are missing.
  private func insertion(of row: Row, in tables: inout [String: Table], _ db: Database) throws -> Insertion {
    var table = try table(row.table, in: &tables, db)
    var (columns, places, rest): ([String], [Int], [(Int, String)]) = ([], [], [])
    var taken: Set<String> = []
    for (index, name) in row.columns.enumerated() {
      let key = Self.folded(name)
      if table.columns[key] == nil, key != Self.rest, !key.isEmpty, table.columns.count < Self.mostColumns {
        try addColumn(name, to: row.table, db)
        table.columns[key] = name
      }
      if let column = table.columns[key], taken.insert(key).inserted {
        columns.append(column)
        places.append(index)
      } else {
        rest.append((index, name))
      }
    }
    if !rest.isEmpty, !table.hasRest {
      try addColumn(Self.rest, to: row.table, db)
      table.hasRest = true
    }
    tables[Self.folded(row.table)] = table
    let names = columns.map(Self.quoted) + (rest.isEmpty ? [] : [Self.quoted(Self.rest)])
    let marks = names.map { _ in "?" }.joined(separator: ",")
    let statement = try db.makeStatement(
      sql: "INSERT OR IGNORE INTO \(Self.quoted(row.table)) (\(names.joined(separator: ","))) VALUES (\(marks))")
    return Insertion(statement: statement, places: places, rest: rest)
  }

  private func addColumn(_ name: String, to table: String, _ db: Database) throws {
    try db.execute(sql: "ALTER TABLE \(Self.quoted(table)) ADD COLUMN \(Self.quoted(name)) TEXT")
  }

  private static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

  /// Returns the name in lowercase ASCII. SQLite treats names that differ only in the case of ASCII letters as equal.
  private static func folded(_ name: String) -> String {
    guard name.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return name }
    return String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}

/// A prepared insert statement for rows with the same columns. It binds values without GRDB's argument boxes.
private struct Insertion {
  let statement: Statement
  /// The index of the value for each parameter of the statement.
  let places: [Int]
  /// The indexes and names of the values that go to ``TableFile/rest``.
  let rest: [(index: Int, name: String)]

  func run(_ values: [TableFile.Value]) throws {
    let pointer = statement.sqliteStatement
    sqlite3_reset(pointer)
    var mark: Int32 = 0
    for place in places {
      mark += 1
      bind(values[place], mark, pointer)
    }
    if !rest.isEmpty {
      var object: [String: String] = [:]
      for (index, name) in rest {
        switch values[index] {
        case .null: continue
        case .text(let text): object[name] = text
        case .number(let number): object[name] = "\(number)"
        }
      }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      bind(.text(String(decoding: try encoder.encode(object), as: UTF8.self)), mark + 1, pointer)
    }
    let code = sqlite3_step(pointer)
    sqlite3_reset(pointer)
    guard code == SQLITE_DONE else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
    }
  }

  private func bind(_ value: TableFile.Value, _ mark: Int32, _ pointer: OpaquePointer) {
    switch value {
    case .null: sqlite3_bind_null(pointer, mark)
    case .number(let number): sqlite3_bind_double(pointer, mark, number)
    case .text(var text):
      _ = text.withUTF8 { utf8 in
        // A nil pointer would bind NULL, and an empty string has no storage to point at.
        utf8.baseAddress.map {
          sqlite3_bind_text(
            pointer, mark, UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self), Int32(utf8.count), Self.transient)
        } ?? sqlite3_bind_text(pointer, mark, "", 0, Self.transient)
      }
    }
  }

  /// A marker that tells SQLite to copy the bytes that it is given.
  private static let transient = unsafeBitCast(OpaquePointer(bitPattern: -1), to: sqlite3_destructor_type.self)
}
