import Foundation
import GRDB
import HealthModel

/// Turns rows of `sample` into samples. Holds the dictionary rows that it has met, for one read.
struct SampleRow {
  static let columns =
    "change, type, start, uuid, duration, created, source, device, kind, value, unit, payload, metadata"

  /// Samples with their change numbers, for `SELECT … FROM sample WHERE` the given clause.
  static func fetch(
    _ db: Database, where clause: String, arguments: StatementArguments = StatementArguments()
  ) throws -> [(Int64, Sample)] {
    let decoder = SampleRow(db)
    var samples: [(Int64, Sample)] = []
    let rows = try Row.fetchCursor(db, sql: "SELECT \(columns) FROM sample WHERE \(clause)", arguments: arguments)
    while let row = try rows.next() {
      samples.append((row[0], try decoder.sample(row)))
    }
    return samples
  }

  /// One sample after another, none of which is kept.
  static func forEach(_ db: Database, where clause: String, _ body: (Sample) throws -> Void) throws {
    let decoder = SampleRow(db)
    let rows = try Row.fetchCursor(db, sql: "SELECT \(columns) FROM sample WHERE \(clause)")
    while let row = try rows.next() { try body(try decoder.sample(row)) }
  }

  static func uuid(_ bytes: Data) throws -> UUID {
    guard let uuid = UUID(bytes: bytes) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a sample has no UUID")
    }
    return uuid
  }

  private let types: TypeNames
  private let units: NameTable
  private let kinds: NameTable
  private let sources: JSONTable<Source>
  private let devices: JSONTable<Device>

  init(_ db: Database) {
    types = TypeNames(db)
    units = NameTable(db, sql: "SELECT name FROM unit WHERE id = ?")
    kinds = NameTable(db, sql: "SELECT name FROM kind WHERE id = ?")
    sources = JSONTable(db, sql: "SELECT json FROM source WHERE id = ?")
    devices = JSONTable(db, sql: "SELECT json FROM device WHERE id = ?")
  }

  private func sample(_ row: Row) throws -> Sample {
    let type = try types.name(row[1])
    let start: Int64 = row[2]
    let created: Int64? = row[5]
    let device: Int64? = row[7]
    let metadata: String? = row[12]
    return Sample(
      uuid: try Self.uuid(row[3]), type: type,
      start: Timestamp(microseconds: start), end: Timestamp(microseconds: start &+ (row[4] as Int64)),
      created: created.map { Timestamp(microseconds: start &+ $0) },
      source: try sources.value(row[6]), device: try device.map(devices.value),
      metadata: try metadata.map { try StoreJSON.decode(Metadata.self, $0) } ?? [:],
      payload: try payload(row))
  }

  private func payload(_ row: Row) throws -> Payload {
    let kind = try kinds.name(row[8])
    let value: Double? = row[9]
    let json: String? = row[11]
    switch kind {
    case "quantity":
      let unit: Int64? = row[10]
      // SQLite has no NaN: it stores NULL.
      return .quantity(Quantity(value ?? .nan, try unit.map(units.name) ?? ""))
    case "category":
      if let json { return .category(try StoreJSON.decode(CategoryValue.self, json)) }
      return .category(CategoryValue(value: value.map { Int64($0) }))
    case "correlation": return .correlation(try StoreJSON.decode(Correlation.self, json ?? ""))
    case "workout": return .workout(try StoreJSON.decode(Workout.self, json ?? ""))
    case "activitySummary": return .activitySummary(try StoreJSON.decode(ActivitySummary.self, json ?? ""))
    case "characteristic": return .characteristic(try StoreJSON.decode(CharacteristicValue.self, json ?? ""))
    default: return .unknown(kind: kind, content: try StoreJSON.decode(JSONValue.self, json ?? "null"))
    }
  }
}
