import Foundation
import GRDB
import HealthModel

/// The digests that the store keeps, by type and month, for all changes up to one number.
///
/// Later additions and tombstones are added when a digest is requested. A sample before the number that is deleted is
/// subtracted in the transaction that deletes it. No other operation on the store changes the table.
enum DigestTable {
  /// Returns the change number up to which the table is valid, or 0 if the table must be rebuilt.
  ///
  /// Tombstones that were pruned are still in the sums, so a raised floor invalidates them.
  static func position(_ db: Database) throws -> Int64 {
    try Int64.fetchOne(
      db,
      sql: """
        SELECT change FROM digestPosition, store
        WHERE change <= counter AND digestPosition.tombstoneFloor = store.tombstoneFloor
        """) ?? 0
  }

  /// Returns the kept digests within `scope`.
  static func fetch(_ db: Database, _ scope: DigestScope) throws -> DigestSums {
    var sums = DigestSums()
    var sql = "SELECT type, month, samples, sampleSum, tombstones, tombstoneSum FROM monthDigest WHERE TRUE"
    if scope.months.lowerBound > .min { sql += " AND month >= \(scope.months.lowerBound)" }
    if scope.months.upperBound < .max { sql += " AND month <= \(scope.months.upperBound)" }
    if let types = scope.types { sql += " AND type IN (\(types.map(String.init).joined(separator: ",")))" }
    let rows = try Row.fetchCursor(db, sql: sql)
    while let row = try rows.next() {
      sums.add(
        DigestSums.Value(
          samples: SetDigest(count: row[2], sum: try UInt128(bytes: row[3])),
          tombstones: SetDigest(count: row[4], sum: try UInt128(bytes: row[5]))),
        to: DigestSums.Key(type: row[0], month: row[1]))
    }
    return sums
  }

  static func clear(_ db: Database) throws {
    try db.execute(sql: "DELETE FROM monthDigest; UPDATE digestPosition SET change = 0")
  }

  /// Adds `sums`, and moves the position to `change`.
  static func advance(to change: Int64, adding sums: DigestSums, _ db: Database) throws {
    if try position(db) == 0 { try clear(db) }
    for (key, value) in sums.values { try add(value, to: key, db) }
    try db.execute(
      sql: "UPDATE digestPosition SET change = ?, tombstoneFloor = (SELECT tombstoneFloor FROM store)",
      arguments: [change])
  }

  /// Adds a value to a kept digest. The counts of `value` may be negative.
  static func add(_ value: DigestSums.Value, to key: DigestSums.Key, _ db: Database) throws {
    let scope = DigestScope(types: [key.type], months: key.month...key.month)
    var sum = try fetch(db, scope).values[key] ?? DigestSums.Value()
    sum += value
    guard !sum.isEmpty else {
      return try db.execute(
        sql: "DELETE FROM monthDigest WHERE type = ? AND month = ?", arguments: [key.type, key.month])
    }
    try db.execute(
      sql: """
        INSERT OR REPLACE INTO monthDigest(type, month, samples, sampleSum, tombstones, tombstoneSum)
        VALUES (?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        key.type, key.month, sum.samples.count, sum.samples.sum.bytes, sum.tombstones.count, sum.tombstones.sum.bytes,
      ])
  }
}

/// Samples that one transaction deletes and that must be subtracted from the kept digests.
struct DigestRemovals {
  private let position: Int64
  private let types: TypeNames
  private var hashers: [Int64: IdentityHasher] = [:]
  private var sums = DigestSums()

  init(_ db: Database) throws {
    position = try DigestTable.position(db)
    types = TypeNames(db)
  }

  /// Subtracts a sample.
  ///
  /// - Parameter change: the change number of the deleted sample.
  mutating func remove(_ uuid: UUID, start: Int64, duration: Int64, type: Int64, change: Int64) throws {
    guard change <= position else { return }
    var hasher = try hashers[type] ?? IdentityHasher(types.name(type))
    defer { hashers[type] = hasher }
    let hash = withUnsafeBytes(of: uuid.uuid) { uuid in
      hasher.sample(start: start, end: start &+ duration, uuid: uuid)
    }
    var value = DigestSums.Value()
    value.samples.remove(hash)
    let month = CalendarMonth(containing: Timestamp(microseconds: start))
    sums.add(value, to: DigestSums.Key(type: type, month: month.number))
  }

  func write(_ db: Database) throws {
    for (key, value) in sums.values { try DigestTable.add(value, to: key, db) }
  }
}

extension UInt128 {
  /// The bytes in big-endian order.
  var bytes: Data { withUnsafeBytes(of: bigEndian) { Data($0) } }

  init(bytes: Data) throws {
    guard bytes.count == 16 else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a kept digest has no sum")
    }
    self = bytes.reduce(0) { $0 << 8 | UInt128($1) }
  }
}
