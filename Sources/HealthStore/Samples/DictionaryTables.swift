import GRDB
import HealthModel

extension SampleType {
  /// The row id of the type; `nil` for one that the store has not met.
  func id(in db: Database) throws -> Int64? {
    var query = try Binding(db, "SELECT id FROM type WHERE identifier = ?")
    query.bind(rawValue)
    return try query.integer(db)
  }
}

/// Names by row id, each read once.
final class NameTable {
  private let db: Database
  private let sql: String
  private var names: [Int64: String] = [:]

  init(_ db: Database, sql: String) {
    self.db = db
    self.sql = sql
  }

  func name(_ id: Int64) throws -> String {
    if let name = names[id] { return name }
    var query = try Binding(db, sql)
    query.bind(id)
    guard let name = try query.text(db) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a dictionary row is missing")
    }
    names[id] = name
    return name
  }
}

/// Sample types by row id.
struct TypeNames {
  private let names: NameTable

  init(_ db: Database) {
    names = NameTable(db, sql: "SELECT identifier FROM type WHERE id = ?")
  }

  func name(_ id: Int64) throws -> SampleType {
    SampleType(try names.name(id))
  }
}

/// Values kept as JSON by row id, each decoded once.
final class JSONTable<Value: Decodable> {
  private let names: NameTable
  private var values: [Int64: Value] = [:]

  init(_ db: Database, sql: String) {
    names = NameTable(db, sql: sql)
  }

  func value(_ id: Int64) throws -> Value {
    if let value = values[id] { return value }
    let value = try StoreJSON.decode(Value.self, try names.name(id))
    values[id] = value
    return value
  }
}
