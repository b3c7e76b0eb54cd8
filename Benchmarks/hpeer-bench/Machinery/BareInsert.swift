import Foundation
import GRDBSQLite
import HealthStore

/// The floor: the rows of a store, bound from memory to one prepared statement, into a fresh file of the same schema.
///
/// The pragmas are the store's own (write-ahead log, synchronous FULL, 16 MiB of cache), and the file is complete at the
/// end. Nothing reads, decodes, looks up, counts or checks.
final class BareInsert: Sendable {
  private let rows: [Row]
  private let bytes: [UInt8]

  var count: Int { rows.count }

  private struct Row: Sendable {
    var change: Int64
    var type: Int64
    var start: Int64
    var uuid: Range<Int>
    var duration: Int64
    var created: Int64?
    var source: Int64
    var device: Int64?
    var kind: Int64
    var value: Double?
    var unit: Int64?
    var payload: Range<Int>?
    var metadata: Range<Int>?
  }

  private static let columns =
    "change, type, start, uuid, duration, created, source, device, kind, value, unit, payload, metadata"

  /// Reads all samples of the store in a directory.
  init(rowsOf directory: String) throws {
    let database = try SQLite("\(directory)/store.sqlite", readOnly: true)
    let statement = try database.prepare("SELECT \(Self.columns) FROM sample ORDER BY change")
    defer { sqlite3_finalize(statement) }
    var (rows, bytes) = ([Row](), [UInt8]())
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64? { isNull(column) ? nil : sqlite3_column_int64(statement, column) }
    func blob(_ column: Int32) -> Range<Int>? {
      guard let start = sqlite3_column_blob(statement, column) else { return nil }
      let begin = bytes.count
      bytes.append(
        contentsOf: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
      return begin..<bytes.count
    }
    while sqlite3_step(statement) == SQLITE_ROW {
      rows.append(
        Row(
          change: integer(0) ?? 0, type: integer(1) ?? 0, start: integer(2) ?? 0, uuid: blob(3) ?? 0..<0,
          duration: integer(4) ?? 0, created: integer(5), source: integer(6) ?? 0, device: integer(7),
          kind: integer(8) ?? 0, value: isNull(9) ? nil : sqlite3_column_double(statement, 9), unit: integer(10),
          payload: blob(11), metadata: blob(12)))
    }
    (self.rows, self.bytes) = (rows, bytes)
  }

  /// Seconds from opening the file to closing it, and the processor time of it.
  ///
  /// - Parameters:
  ///   - transaction: rows of each transaction.
  ///   - directory: made, and removed again.
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
    let statement = try database.prepare("INSERT INTO sample(\(Self.columns)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)")
    defer { sqlite3_finalize(statement) }
    try bytes.withUnsafeBytes { bytes in
      var first = 0
      while first < rows.count {
        let end = min(rows.count, first + transaction)
        try database.execute("BEGIN IMMEDIATE")
        for index in first..<end {
          bind(rows[index], bytes, to: statement)
          guard sqlite3_step(statement) == SQLITE_DONE else { throw database.failure("insert") }
          sqlite3_reset(statement)
        }
        try database.execute("COMMIT")
        first = end
      }
    }
  }

  /// The bytes outlive the statement: SQLite need not copy them (SQLITE_STATIC).
  private func bind(_ row: Row, _ bytes: UnsafeRawBufferPointer, to statement: OpaquePointer) {
    func bind(_ value: Int64?, _ index: Int32) {
      if let value { sqlite3_bind_int64(statement, index, value) } else { sqlite3_bind_null(statement, index) }
    }
    func bind(_ text: Range<Int>?, _ index: Int32) {
      guard let text, let base = bytes.baseAddress else { return bind(nil as Int64?, index) }
      sqlite3_bind_text(
        statement, index, (base + text.lowerBound).assumingMemoryBound(to: CChar.self), Int32(text.count), nil)
    }
    bind(row.change, 1)
    bind(row.type, 2)
    bind(row.start, 3)
    sqlite3_bind_blob(statement, 4, bytes.baseAddress.map { $0 + row.uuid.lowerBound }, Int32(row.uuid.count), nil)
    bind(row.duration, 5)
    bind(row.created, 6)
    bind(row.source, 7)
    bind(row.device, 8)
    bind(row.kind, 9)
    if let value = row.value { sqlite3_bind_double(statement, 10, value) } else { sqlite3_bind_null(statement, 10) }
    bind(row.unit, 11)
    bind(row.payload, 12)
    bind(row.metadata, 13)
  }

  /// A mark of the schema that a new store has.
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
