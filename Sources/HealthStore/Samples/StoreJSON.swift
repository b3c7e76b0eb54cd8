import GRDB
import HealthModel

/// JSON out of the store: what cannot be read there is damage.
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
