import Foundation
import GRDB
import GRDBSQLite

/// The columns of one row of a query. Avoids GRDB's row boxes, because reading the feed is a hot path. Valid until
/// the next row.
struct StoredColumns {
  private let statement: OpaquePointer

  init(_ statement: OpaquePointer) {
    self.statement = statement
  }

  func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(statement, column)
  }

  func optionalInteger(_ column: Int32) -> Int64? {
    isNull(column) ? nil : integer(column)
  }

  func optionalDouble(_ column: Int32) -> Double? {
    isNull(column) ? nil : sqlite3_column_double(statement, column)
  }

  /// Returns the whole text. GRDB's own texts end at the first NUL.
  func text(_ column: Int32) -> String? {
    guard let bytes = sqlite3_column_text(statement, column) else { return nil }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// Returns the length of a text in bytes, or 0 for NULL.
  func textCount(_ column: Int32) -> Int { Int(sqlite3_column_bytes(statement, column)) }

  func uuid(_ column: Int32) throws -> UUID {
    guard let bytes = sqlite3_column_blob(statement, column), sqlite3_column_bytes(statement, column) == 16 else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a sample has no UUID")
    }
    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }

  /// Returns the bytes, or `nil` for NULL.
  func blob(_ column: Int32) -> [UInt8]? {
    guard let bytes = sqlite3_column_blob(statement, column) else { return nil }
    return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
  }

  private func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(statement, column) == SQLITE_NULL
  }
}
