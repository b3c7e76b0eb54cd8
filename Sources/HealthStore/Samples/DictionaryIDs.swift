import GRDB
import HealthModel

/// Row ids of types, units, sources, devices and kinds; a value that the store has not met gets a row.
///
/// Lives as long as one transaction, because ids that were rolled back must not be remembered.
final class DictionaryIDs {
  private let db: Database
  private var types = IDMemo<SampleType>()
  private var units = IDMemo<String>()
  private var kinds = IDMemo<String>()
  private var sources = IDMemo<Source>()
  private var devices = IDMemo<Device>()

  init(_ db: Database) {
    self.db = db
  }

  func type(_ type: SampleType) throws -> Int64 {
    try types.id(of: type) {
      try id(
        of: type.rawValue, select: "SELECT id FROM type WHERE identifier = ?",
        insert: "INSERT INTO type(identifier, samples) VALUES (?, 0)")
    }
  }

  func unit(_ name: String) throws -> Int64 {
    try units.id(of: name) {
      try id(of: name, select: "SELECT id FROM unit WHERE name = ?", insert: "INSERT INTO unit(name) VALUES (?)")
    }
  }

  func kind(_ name: String) throws -> Int64 {
    try kinds.id(of: name) {
      try id(of: name, select: "SELECT id FROM kind WHERE name = ?", insert: "INSERT INTO kind(name) VALUES (?)")
    }
  }

  func source(_ source: Source) throws -> Int64 {
    try sources.id(of: source) {
      try id(
        of: try StoreJSON.encode(source), select: "SELECT id FROM source WHERE json = ?",
        insert: "INSERT INTO source(json) VALUES (?)")
    }
  }

  func device(_ device: Device) throws -> Int64 {
    try devices.id(of: device) {
      try id(
        of: try StoreJSON.encode(device), select: "SELECT id FROM device WHERE json = ?",
        insert: "INSERT INTO device(json) VALUES (?)")
    }
  }

  private func id(of text: String, select: String, insert: String) throws -> Int64 {
    var query = try Binding(db, select)
    query.bind(text)
    if let id = try query.integer(db) { return id }
    var insertion = try Binding(db, insert)
    insertion.bind(text)
    try insertion.run(db)
    return db.lastInsertedRowID
  }
}

/// The ids that were looked up already. The last one is tried first: neighbours mostly share source and device, and
/// hashing their texts costs more than comparing them.
private struct IDMemo<Value: Hashable & ExactlyComparable> {
  private var last: (value: Value, id: Int64)?
  private var ids: [Value: (value: Value, id: Int64)] = [:]

  mutating func id(of value: Value, lookUp: () throws -> Int64) rethrows -> Int64 {
    if let last, last.value.isExactly(value) { return last.id }
    if let known = ids[value], known.value.isExactly(value) {
      last = known
      return known.id
    }
    let id = try lookUp()
    // Of two spellings that `==` holds equal, one is remembered and the other looked up each time.
    ids[value] = (value, id)
    last = (value, id)
    return id
  }
}
