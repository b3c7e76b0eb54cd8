import Foundation
import GRDB
import GRDBSQLite
import HealthModel

/// Binds values to a prepared statement in order and runs it, without GRDB's argument boxes: the insert is the hot
/// path.
///
/// Texts go in and out whole. GRDB's own end at the first NUL, which would make one type of two.
struct Binding {
  private let statement: OpaquePointer
  private var index: Int32 = 0

  init(_ statement: Statement) {
    self.statement = statement.sqliteStatement
    sqlite3_reset(self.statement)
  }

  /// A statement that the connection keeps for the next time.
  init(_ db: Database, _ sql: String) throws {
    self.init(try db.cachedStatement(sql: sql))
  }

  mutating func bind(_ value: Int64) {
    index += 1
    sqlite3_bind_int64(statement, index, value)
  }

  /// Binds both bounds, for `BETWEEN ? AND ?`.
  mutating func bind(_ range: ClosedRange<Int64>) {
    bind(range.lowerBound)
    bind(range.upperBound)
  }

  /// Binds what names a sample, for `type = ? AND start BETWEEN ? AND ? AND uuid = ?`; see `UUID.range(ofStart:)`.
  mutating func bind(type: Int64, start: Int64, _ uuid: UUID) {
    bind(type)
    bind(uuid.range(ofStart: start))
    bind(uuid)
  }

  mutating func bind(_ value: Int64?) {
    if let value { bind(value) } else { bindNull() }
  }

  mutating func bind(_ value: Double?) {
    guard let value else { return bindNull() }
    index += 1
    sqlite3_bind_double(statement, index, value)
  }

  mutating func bind(_ value: UUID) {
    index += 1
    _ = withUnsafeBytes(of: value.uuid) { sqlite3_bind_blob(statement, index, $0.baseAddress, 16, transient) }
  }

  /// Binds the UUID without a copy (`SQLITE_STATIC`): it must stay where it is until the statement has run.
  mutating func bind(_ uuid: UnsafePointer<UUID>) {
    index += 1
    sqlite3_bind_blob(statement, index, uuid, 16, nil)
  }

  mutating func bind(_ value: UUID?) {
    if let value { bind(value) } else { bindNull() }
  }

  mutating func bind(_ value: String?) {
    guard var value else { return bindNull() }
    index += 1
    _ = value.withUTF8 { utf8 in
      // A nil pointer would bind NULL, and an empty string has no storage to point at.
      utf8.baseAddress.map {
        sqlite3_bind_text(
          statement, index, UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self), Int32(utf8.count), transient)
      } ?? sqlite3_bind_text(statement, index, "", 0, transient)
    }
  }

  mutating func bind(_ value: KeyStatement?) {
    guard let value else { return bindNull() }
    index += 1
    let bytes = value.bytes
    _ = bytes.withUnsafeBytes { sqlite3_bind_blob(statement, index, $0.baseAddress, Int32($0.count), transient) }
  }

  private mutating func bindNull() {
    index += 1
    sqlite3_bind_null(statement, index)
  }

  /// Runs a statement that returns no rows.
  func run(_ db: Database) throws {
    let code = sqlite3_step(statement)
    sqlite3_reset(statement)
    guard code == SQLITE_DONE else { throw error(code, db) }
  }

  /// Hands `body` the rows of a query until it returns false.
  func rows(_ db: Database, _ body: (StoredColumns) throws -> Bool) throws {
    defer { sqlite3_reset(statement) }
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw error(code, db) }
      guard try body(StoredColumns(statement)) else { return }
    }
  }

  /// The steps of SQLite's virtual machine since this was asked last: what the statement has cost.
  func takeSteps() -> Int32 { sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1) }

  /// The integer that a query for one column of one row returns, if there is such a row.
  func integer(_ db: Database) throws -> Int64? {
    try first(db) { sqlite3_column_int64(statement, 0) }
  }

  /// The text that a query for one column of one row returns, if there is such a row.
  func text(_ db: Database) throws -> String? {
    try first(db) { StoredColumns(statement).text(0) ?? "" }
  }

  /// The two integers that a statement for at most one row of two columns returns, if there is such a row.
  func integers(_ db: Database) throws -> (Int64, Int64)? {
    defer { sqlite3_reset(statement) }
    let code = sqlite3_step(statement)
    guard code != SQLITE_DONE else { return nil }
    guard code == SQLITE_ROW else { throw error(code, db) }
    let row = (sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1))
    // A statement that writes has written when it returns its row, and is done after it.
    let end = sqlite3_step(statement)
    guard end == SQLITE_DONE else { throw error(end, db) }
    return row
  }

  private func first<T>(_ db: Database, _ read: () -> T) throws -> T? {
    defer { sqlite3_reset(statement) }
    let code = sqlite3_step(statement)
    guard code != SQLITE_DONE else { return nil }
    guard code == SQLITE_ROW else { throw error(code, db) }
    return read()
  }

  private func error(_ code: Int32, _ db: Database) -> DatabaseError {
    DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(db.sqliteConnection)))
  }
}

/// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
