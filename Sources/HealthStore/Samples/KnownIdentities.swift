import Foundation
import GRDB
import HealthModel

/// Lookups of a sample's identity among samples or tombstones.
enum KnownIdentities {
  enum Table {
    case sample, tombstone
  }

  static func has(_ table: Table, _ uuid: UUID, start: Int64, type: Int64, _ db: Database) throws -> Bool {
    try has(table, uuid, starting: start...start, type: type, db)
  }

  static func has(
    _ table: Table, _ uuid: UUID, starting range: ClosedRange<Int64>, type: Int64, _ db: Database
  ) throws -> Bool {
    // Constant texts, because the statement cache would hash a composed text anew for every row.
    let sql =
      switch table {
      case .sample: "SELECT 1 FROM sample WHERE type = ? AND start BETWEEN ? AND ? AND uuid = ?"
      case .tombstone: "SELECT 1 FROM tombstone WHERE type = ? AND start BETWEEN ? AND ? AND uuid = ?"
      }
    var query = try Binding(db, sql)
    query.bind(type)
    query.bind(range)
    query.bind(uuid)
    return try query.integer(db) != nil
  }
}
