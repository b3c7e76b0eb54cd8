import GRDB
import GRDBSQLite
import HealthModel

/// A scan that reads identities from the tables and sums their hashes, without GRDB's rows, because a digest covers
/// millions of samples.
struct DigestScan {
  private let db: Database
  private let types: TypeNames
  private let scope: DigestScope
  /// A condition in SQL, or an empty text for all sources.
  private let sources: String
  private var hashers: [Int64: IdentityHasher] = [:]
  private(set) var sums = DigestSums()
  /// The type and month of the previous row, which consecutive rows usually share.
  private var key = DigestSums.Key(type: .min, month: 0)
  private var instants: ClosedRange<Int64> = 0...0
  private var isCovered = false
  private var hasher = IdentityHasher(SampleType(""))
  private var value = DigestSums.Value()

  /// Creates an empty scan. `sources` is a condition from ``FilterCondition/from(_:_:)``.
  init(_ db: Database, scope: DigestScope = .everything, sources: String = "") {
    self.db = db
    self.scope = scope
    self.sources = sources
    types = TypeNames(db)
  }

  /// Adds the changes after `first` up to `last`.
  mutating func changes(after first: Int64, upTo last: Int64) throws {
    guard first < last else { return }
    try samples("NOT INDEXED WHERE change > \(first) AND change <= \(last)")
    try tombstones("NOT INDEXED WHERE change > \(first) AND change <= \(last)")
  }

  /// Adds the samples and tombstones of one type that start within `range`, in microseconds.
  mutating func starts(of type: Int64, in range: ClosedRange<Int64>) throws {
    let condition = "type = \(type) AND start BETWEEN \(range.lowerBound) AND \(range.upperBound)\(sources)"
    try samples("INDEXED BY sample_identity WHERE \(condition)")
    // Peers do not receive the sources of other tombstones.
    let told = sources.isEmpty ? "" : " AND duration IS NOT NULL"
    try tombstones("INDEXED BY tombstone_identity WHERE \(condition)\(told)")
  }

  private mutating func samples(_ source: String) throws {
    try walk("SELECT type, start, uuid, duration FROM sample \(source)") { scan, row, start, uuid in
      let end = start &+ sqlite3_column_int64(row, 3)
      scan.value.samples.insert(scan.hasher.sample(start: start, end: end, uuid: uuid))
    }
  }

  private mutating func tombstones(_ source: String) throws {
    try walk("SELECT type, start, uuid FROM tombstone \(source)") { scan, _, start, uuid in
      scan.value.tombstones.insert(scan.hasher.tombstone(start: start, uuid: uuid))
    }
  }

  private mutating func walk(
    _ sql: String,
    _ add: (inout DigestScan, _ row: OpaquePointer, _ start: Int64, _ uuid: UnsafeRawBufferPointer) -> Void
  ) throws {
    // Keeps the statement alive while its pointer is in use.
    let statement = try db.makeStatement(sql: sql)
    try withExtendedLifetime(statement) {
      let row = statement.sqliteStatement
      while true {
        let code = sqlite3_step(row)
        if code == SQLITE_DONE { break }
        guard code == SQLITE_ROW else {
          throw DatabaseError(
            resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(db.sqliteConnection)))
        }
        let start = sqlite3_column_int64(row, 1)
        try turn(to: sqlite3_column_int64(row, 0), start: start)
        guard isCovered else { continue }
        guard let uuid = sqlite3_column_blob(row, 2), sqlite3_column_bytes(row, 2) == 16 else {
          throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a change has no UUID")
        }
        add(&self, row, start, UnsafeRawBufferPointer(start: uuid, count: 16))
      }
    }
    flush()
  }

  private mutating func turn(to type: Int64, start: Int64) throws {
    if type == key.type, instants.contains(start) { return }
    flush()
    if type != key.type {
      hasher = try hashers[type] ?? IdentityHasher(types.name(type))
      hashers[type] = hasher
    }
    let month = CalendarMonth(containing: Timestamp(microseconds: start))
    key = DigestSums.Key(type: type, month: month.number)
    instants = month.instants.lowerBound.microseconds...month.instants.upperBound.microseconds
    isCovered = scope.covers(key)
  }

  private mutating func flush() {
    if !value.isEmpty { sums.add(value, to: key) }
    value = DigestSums.Value()
  }
}
