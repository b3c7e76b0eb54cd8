import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// A SQLite database that is written once, from its first table to its last row, for other programs to read.
///
/// Tables come with their first row, and columns with the first row that has them. All is one transaction, and nothing is
/// kept beside the file: if ``finish()`` is not reached, the file is to be thrown away.
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
    /// Its type, and what else SQL has after the name: `TEXT PRIMARY KEY`.
    public var declaration: String

    /// - Parameter declaration: SQL, which is not checked here.
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

    /// - Parameters:
    ///   - columns: any names. What has none of its own goes to ``TableFile/rest``: the second of two names that SQLite takes
    ///     for one, and whatever is more than a table can have.
    ///   - values: one for each of `columns`.
    public init(table: String, columns: [String], values: [Value]) {
      (self.table, self.columns, self.values) = (table, columns, values)
    }
  }

  /// Why it cannot be written.
  public enum Failure: Error, Hashable, Sendable {
    case diskFull
    /// - Parameter reason: SQLite's words.
    case unwritable(reason: String)
  }

  /// The column that has, as a JSON object of texts, what found no column of its own; there once it is needed.
  public static let rest = "metadata"
  /// Columns of one table; SQLite has 2000 at most. Every key of metadata becomes one.
  static let mostColumns = 1_900
  /// In bytes: what SQLite holds of the file in memory.
  private static let cache = 4 << 20

  /// Prepared at a time: rows of any metadata have columns of any number of kinds.
  private static let mostStatements = 64

  /// Rows that one statement puts in.
  private struct Shape: Hashable {
    var table: String
    var columns: [String]
  }

  /// What a table has by now.
  private struct Table {
    /// As the table has it; SQLite finds it in any case.
    var columns: [String: String] = [:]
    var hasRest = false
  }

  private let queue: DatabaseQueue
  private let beginning: @Sendable (String) -> [Column]
  private let tables = Mutex<[String: Table]>([:])

  /// - Parameters:
  ///   - path: an empty file, or none.
  ///   - beginning: the columns that a table has before its first row.
  /// - Throws: ``Failure``.
  public init(path: String, beginning: @escaping @Sendable (_ table: String) -> [Column]) throws {
    self.beginning = beginning
    var configuration = Configuration()
    // The transaction lasts from one call to the next.
    configuration.allowsUnsafeTransactions = true
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { db in
      // Whoever breaks off throws the file away, and whoever finishes it brings it to the disk.
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

  /// Makes a table that shall be there even if it has no rows. Throws ``Failure``.
  public func makeTable(_ name: String) throws {
    try writing { db, tables in _ = try self.table(name, in: &tables, db) }
  }

  /// Throws ``Failure``. A row whose primary key is there already is left out.
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

  /// Ends the transaction and closes the file, which is not on the disk for sure. Throws ``Failure``.
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

  /// How rows with these columns are put in; makes what is missing.
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

  /// SQLite takes names for the same that differ only in the case of ASCII letters.
  private static func folded(_ name: String) -> String {
    guard name.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return name }
    return String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}

/// Binds the values of rows that have the same columns, without GRDB's argument boxes.
private struct Insertion {
  let statement: Statement
  /// Which value belongs to each mark.
  let places: [Int]
  /// Which belong to ``TableFile/rest``, and their names.
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

  /// SQLite copies what it is given.
  private static let transient = unsafeBitCast(OpaquePointer(bitPattern: -1), to: sqlite3_destructor_type.self)
}
