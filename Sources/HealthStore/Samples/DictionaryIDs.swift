import GRDB
import HealthModel

/// The row ids of one batch's types, units, sources, devices and kinds. A new value gets a row when its id is first
/// requested.
///
/// Valid for one transaction, because ids that were rolled back must not be remembered.
struct DictionaryIDs {
  private var types: Interned<SampleType>
  private var units: Interned<String>
  private var kinds: Interned<String>
  private var sources: Interned<Source>
  private var devices: Interned<Device>

  init(_ changes: CodedChanges) {
    types = Interned(
      changes.types, select: "SELECT id FROM type WHERE identifier = ?",
      insert: "INSERT INTO type(identifier, samples) VALUES (?, 0)", text: \.rawValue)
    units = Interned(
      changes.units, select: "SELECT id FROM unit WHERE name = ?", insert: "INSERT INTO unit(name) VALUES (?)")
    kinds = Interned(
      changes.kinds, select: "SELECT id FROM kind WHERE name = ?", insert: "INSERT INTO kind(name) VALUES (?)")
    sources = Interned(
      changes.sources, select: "SELECT id FROM source WHERE json = ?",
      insert: "INSERT INTO source(json) VALUES (?)", text: StoreJSON.encode)
    devices = Interned(
      changes.devices, select: "SELECT id FROM device WHERE json = ?",
      insert: "INSERT INTO device(json) VALUES (?)", text: StoreJSON.encode)
  }

  mutating func type(_ index: UInt32, _ db: Database) throws -> Int64 { try types.id(index, db) }
  mutating func unit(_ index: UInt32, _ db: Database) throws -> Int64 { try units.id(index, db) }
  mutating func kind(_ index: UInt32, _ db: Database) throws -> Int64 { try kinds.id(index, db) }
  mutating func source(_ index: UInt32, _ db: Database) throws -> Int64 { try sources.id(index, db) }
  mutating func device(_ index: UInt32, _ db: Database) throws -> Int64 { try devices.id(index, db) }
}

/// The values of one dictionary, and the row ids that were requested.
private struct Interned<Value> {
  private let values: [Value]
  private var ids: [Int64?]
  private let select: String
  private let insert: String
  private let text: (Value) throws -> String

  init(_ values: [Value], select: String, insert: String, text: @escaping (Value) throws -> String) {
    self.values = values
    ids = Array(repeating: nil, count: values.count)
    self.select = select
    self.insert = insert
    self.text = text
  }

  mutating func id(_ index: UInt32, _ db: Database) throws -> Int64 {
    let index = Int(index)
    if let id = ids[index] { return id }
    let id = try lookUp(try text(values[index]), db)
    ids[index] = id
    return id
  }

  private func lookUp(_ text: String, _ db: Database) throws -> Int64 {
    var query = try Binding(db, select)
    query.bind(text)
    if let id = try query.integer(db) { return id }
    var insertion = try Binding(db, insert)
    insertion.bind(text)
    try insertion.run(db)
    return db.lastInsertedRowID
  }
}

extension Interned where Value == String {
  init(_ values: [Value], select: String, insert: String) {
    self.init(values, select: select, insert: insert, text: \.self)
  }
}

extension SampleType {
  /// Returns the row id of the type, or `nil` if the store does not have the type.
  func id(in db: Database) throws -> Int64? {
    var query = try Binding(db, "SELECT id FROM type WHERE identifier = ?")
    query.bind(rawValue)
    return try query.integer(db)
  }
}

/// A cache of sample types by row id.
final class TypeNames {
  private let db: Database
  private var names = StoredDictionary("SELECT identifier FROM type WHERE id = ?", decode: { SampleType($0) })

  init(_ db: Database) {
    self.db = db
  }

  func name(_ id: Int64) throws -> SampleType {
    try names.value(of: id, db)
  }
}
