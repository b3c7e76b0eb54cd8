import Foundation
import GRDB
import HealthModel

/// The digests that the store keeps: for each type and month, those of all changes up to one number.
///
/// Additions and tombstones after that number are added when somebody asks. A sample before it that is deleted is taken
/// out in the transaction that deletes it; nothing else that happens to a store touches this.
enum DigestTable {
  /// The change number up to which the table is right; 0 for a table that must be made anew.
  ///
  /// Tombstones that were removed because of their age are still in the sums, so that a floor which was raised voids them.
  static func position(_ db: Database) throws -> Int64 {
    try Int64.fetchOne(
      db,
      sql: """
        SELECT change FROM digestPosition, store
        WHERE change <= counter AND digestPosition.tombstoneFloor = store.tombstoneFloor
        """) ?? 0
  }

  /// The kept digests within `scope`.
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

  /// Adds `sums` and moves on to `change`.
  static func advance(to change: Int64, adding sums: DigestSums, _ db: Database) throws {
    if try position(db) == 0 { try clear(db) }
    for (key, value) in sums.values { try add(value, to: key, db) }
    try db.execute(
      sql: "UPDATE digestPosition SET change = ?, tombstoneFloor = (SELECT tombstoneFloor FROM store)",
      arguments: [change])
  }

  /// `value` may hold counts below 0.
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

/// Samples that one transaction deletes, to be taken out of the digests that are kept.
struct DigestRemovals {
  private let position: Int64
  private let types: TypeNames
  private var hashers: [Int64: IdentityHasher] = [:]
  private var sums = DigestSums()

  init(_ db: Database) throws {
    position = try DigestTable.position(db)
    types = TypeNames(db)
  }

  /// - Parameter change: the number of the addition that is taken back.
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
  /// Big-endian.
  var bytes: Data { withUnsafeBytes(of: bigEndian) { Data($0) } }

  init(bytes: Data) throws {
    guard bytes.count == 16 else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a kept digest has no sum")
    }
    self = bytes.reduce(0) { $0 << 8 | UInt128($1) }
  }
}
