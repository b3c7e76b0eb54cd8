import Foundation
import GRDB
import GRDBSQLite
import HealthModel

/// A prepared statement whose values are bound in order, without GRDB's argument boxes, because inserts are the hot
/// path.
///
/// Texts are bound and read whole. GRDB's own reading ends at the first NUL, which would merge two types into one.
struct Binding {
  private let statement: OpaquePointer
  private var index: Int32 = 0

  init(_ statement: Statement) {
    self.statement = statement.sqliteStatement
    sqlite3_reset(self.statement)
  }

  /// Prepares a statement, which the connection caches.
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

  /// Binds a sample's identity, for `type = ? AND start BETWEEN ? AND ? AND uuid = ?`; see `UUID.range(ofStart:)`.
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

  /// Calls `body` with each row of a query until it returns false.
  func rows(_ db: Database, _ body: (StoredColumns) throws -> Bool) throws {
    defer { sqlite3_reset(statement) }
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw error(code, db) }
      guard try body(StoredColumns(statement)) else { return }
    }
  }

  /// Returns the number of virtual machine steps since the last call, which measures the cost of the statement.
  func takeSteps() -> Int32 { sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1) }

  /// Returns the integer of a query for one column of one row, or `nil` if there is no row.
  func integer(_ db: Database) throws -> Int64? {
    try first(db) { sqlite3_column_int64(statement, 0) }
  }

  /// Returns the text of a query for one column of one row, or `nil` if there is no row.
  func text(_ db: Database) throws -> String? {
    try first(db) { StoredColumns(statement).text(0) ?? "" }
  }

  /// Returns the two integers of a statement for at most one row of two columns, or `nil` if there is no row.
  func integers(_ db: Database) throws -> (Int64, Int64)? {
    defer { sqlite3_reset(statement) }
    let code = sqlite3_step(statement)
    guard code != SQLITE_DONE else { return nil }
    guard code == SQLITE_ROW else { throw error(code, db) }
    let row = (sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1))
    // A writing statement has written when it returns its row, and is complete after the next step.
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
