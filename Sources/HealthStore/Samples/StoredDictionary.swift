import GRDB
import HealthModel

/// A cache of the rows of one dictionary table that a read has used, in order of first use.
struct StoredDictionary<Value> {
  private(set) var values: [Value] = []
  /// The size of the texts of all values, in bytes.
  private(set) var textCount = 0
  /// The index of each row by its id. Ids are small consecutive numbers.
  private var indices: [UInt32?] = []
  private let sql: String
  private let decode: (String) throws -> Value

  /// Creates an empty cache. `sql` is a query for the text with a row id.
  init(_ sql: String, decode: @escaping (String) throws -> Value) {
    self.sql = sql
    self.decode = decode
  }

  /// Returns the index in ``values`` of the row with this id.
  mutating func index(of id: Int64, _ db: Database) throws -> UInt32 {
    if id >= 0, id < Int64(indices.count), let index = indices[Int(id)] { return index }
    var query = try Binding(db, sql)
    query.bind(id)
    guard id >= 0, id < 1 << 32, let text = try query.text(db) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a dictionary row is missing")
    }
    let index = UInt32(values.count)
    textCount += text.utf8.count
    values.append(try decode(text))
    if Int(id) >= indices.count { indices.append(contentsOf: repeatElement(nil, count: Int(id) + 1 - indices.count)) }
    indices[Int(id)] = index
    return index
  }

  /// Returns the value of the row with this id.
  mutating func value(of id: Int64, _ db: Database) throws -> Value {
    let index = try index(of: id, db)
    return values[Int(index)]
  }
}

extension StoredDictionary where Value == String {
  static var units: Self { Self("SELECT name FROM unit WHERE id = ?", decode: \.self) }
  static var kinds: Self { Self("SELECT name FROM kind WHERE id = ?", decode: \.self) }
  /// A cache of source names. Several sources may have the same name.
  static var sourceNames: Self { Self(Self.sources) { try StoreJSON.decode(Source.self, $0).name } }
}

extension StoredDictionary where Value == Source {
  static var all: Self { Self(sources) { try StoreJSON.decode(Source.self, $0) } }
}

extension StoredDictionary where Value == Device {
  static var devices: Self { Self("SELECT json FROM device WHERE id = ?") { try StoreJSON.decode(Device.self, $0) } }
}

extension StoredDictionary {
  fileprivate static var sources: String { "SELECT json FROM source WHERE id = ?" }
}

/// The coding of the store's JSON. JSON that cannot be decoded means that the store is damaged.
enum StoreJSON {
  static func encode(_ value: some Encodable) throws -> String {
    try CanonicalJSON.encode(value)
  }

  static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    do {
      return try CanonicalJSON.decode(type, text)
    } catch {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a \(type) in the store cannot be read")
    }
  }
}
