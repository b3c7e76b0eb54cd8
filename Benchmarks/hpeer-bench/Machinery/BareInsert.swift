import Foundation
import GRDBSQLite
import HealthStore

/// The baseline for imports: a store's rows, bound from memory to a prepared statement and inserted into a new file
/// with the same schema.
///
/// The pragmas are the store's own (write-ahead log, synchronous FULL, 16 MiB of cache), and the file is complete at
/// the end. Nothing reads, decodes, looks up, counts or checks.
final class BareInsert: Sendable {
  private let columns: [String]
  /// The values of all rows, row after row.
  private let values: [Value]
  /// The bytes of all texts and blobs.
  private let bytes: [UInt8]

  var count: Int { values.count / columns.count }

  private enum Value: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(Range<Int>)
    case blob(Range<Int>)
  }

  /// Reads all samples of the store in a directory, with all their columns.
  init(rowsOf directory: String) throws {
    let database = try SQLite("\(directory)/store.sqlite", readOnly: true)
    let statement = try database.prepare("SELECT * FROM sample ORDER BY change")
    defer { sqlite3_finalize(statement) }
    columns = (0..<sqlite3_column_count(statement)).map { String(cString: sqlite3_column_name(statement, $0)) }
    var (values, bytes) = ([Value](), [UInt8]())
    func copy(_ column: Int32) -> Range<Int> {
      let begin = bytes.count
      bytes.append(
        contentsOf: UnsafeRawBufferPointer(
          start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column))))
      return begin..<bytes.count
    }
    while sqlite3_step(statement) == SQLITE_ROW {
      for column in 0..<Int32(columns.count) {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: values.append(.integer(sqlite3_column_int64(statement, column)))
        case SQLITE_FLOAT: values.append(.real(sqlite3_column_double(statement, column)))
        case SQLITE_TEXT: values.append(.text(copy(column)))
        case SQLITE_BLOB: values.append(.blob(copy(column)))
        default: values.append(.null)
        }
      }
    }
    (self.values, self.bytes) = (values, bytes)
  }

  /// Inserts all rows. Returns the seconds from opening the file to closing it, and the processor time.
  ///
  /// - Parameters:
  ///   - transaction: The number of rows in a transaction.
  ///   - directory: The directory for the store, which is created and removed again.
  func run(transaction: Int, in directory: String) throws -> (seconds: Double, cpuSeconds: Double) {
    // The schema of the store itself, whatever its version.
    do { _ = try HealthStore(directory: directory) }
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (started, begin) = (ContinuousClock.now, Self.threadTime)
    do {
      let database = try SQLite("\(directory)/store.sqlite")
      for pragma in ["synchronous = FULL", "cache_size = -16384", "journal_size_limit = 67108864"] {
        try database.execute("PRAGMA \(pragma)")
      }
      try insert(into: database, transaction: transaction)
    }
    return (started.duration(to: .now).seconds, Self.threadTime - begin)
  }

  private static var threadTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func insert(into database: SQLite, transaction: Int) throws {
    let marks = columns.map { _ in "?" }.joined(separator: ",")
    let statement = try database.prepare(
      "INSERT INTO sample(\(columns.joined(separator: ","))) VALUES (\(marks))")
    defer { sqlite3_finalize(statement) }
    try values.withUnsafeBufferPointer { values in
      try bytes.withUnsafeBytes { bytes in
        for first in stride(from: 0, to: count, by: transaction) {
          try database.execute("BEGIN IMMEDIATE")
          for row in first..<min(count, first + transaction) {
            for column in columns.indices {
              Self.bind(values[row * columns.count + column], bytes, to: statement, at: Int32(column + 1))
            }
            guard sqlite3_step(statement) == SQLITE_DONE else { throw database.failure("insert") }
            sqlite3_reset(statement)
          }
          try database.execute("COMMIT")
        }
      }
    }
  }

  /// Binds a value. The bytes outlive the statement, so SQLite need not copy them (SQLITE_STATIC).
  private static func bind(
    _ value: Value, _ bytes: UnsafeRawBufferPointer, to statement: OpaquePointer, at index: Int32
  ) {
    // An empty text needs an address, too, or it would be NULL.
    func address(_ range: Range<Int>) -> UnsafePointer<CChar>? {
      bytes.baseAddress.map { ($0 + range.lowerBound).assumingMemoryBound(to: CChar.self) }
    }
    switch value {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
    case .real(let real): sqlite3_bind_double(statement, index, real)
    case .text(let range): sqlite3_bind_text(statement, index, address(range), Int32(range.count), nil)
    case .blob(let range): sqlite3_bind_blob(statement, index, address(range), Int32(range.count), nil)
    }
  }

  /// Returns a hash of a new store's schema.
  static func schemaMark(in workspace: Workspace) throws -> String {
    let directory = workspace.fresh("schema")
    defer { workspace.remove(directory) }
    do { _ = try HealthStore(directory: directory) }
    let database = try SQLite("\(directory)/store.sqlite", readOnly: true)
    let text = try database.text("SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master ORDER BY name)")
    // FNV-1a.
    let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return String(hash & 0xFFFF_FFFF, radix: 16)
  }
}
