import GRDBSQLite

/// A direct connection to SQLite. Blocks, and isn't safe for concurrent use.
final class SQLite {
  private let connection: OpaquePointer

  init(_ path: String, readOnly: Bool = false) throws {
    var connection: OpaquePointer?
    let flags = (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &connection, flags, nil) == SQLITE_OK, let connection else {
      throw BenchFailure("\(path) cannot be opened.")
    }
    sqlite3_busy_timeout(connection, 30_000)
    self.connection = connection
  }

  deinit { sqlite3_close(connection) }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
  }

  /// Prepares a statement, which must be finalized before the connection is closed.
  func prepare(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw failure(sql)
    }
    return statement
  }

  /// Returns the first column of the first row.
  func text(_ sql: String) throws -> String {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0) else {
      throw failure(sql)
    }
    return String(cString: text)
  }

  func failure(_ what: String) -> BenchFailure {
    BenchFailure("SQLite could not do \(what.prefix(60)): \(String(cString: sqlite3_errmsg(connection))).")
  }
}
