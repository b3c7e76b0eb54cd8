import Foundation
import GRDB
import HealthModel
import PeerProtocol

/// A row that violates the schema. Reading it must fail rather than fall back to a wider scope.
struct MalformedRow: Error {
  let column: String
}

extension Row {
  /// Returns the value of a NOT NULL column.
  func required<Value: DatabaseValueConvertible>(_ column: String) throws -> Value {
    guard let value = Value.fromDatabaseValue(self[column]) else { throw MalformedRow(column: column) }
    return value
  }

  /// Returns the value of a column that may be NULL.
  func optional<Value: DatabaseValueConvertible>(_ column: String) throws -> Value? {
    let value: DatabaseValue = self[column]
    return value.isNull ? nil : try required(column)
  }

  func date(_ column: String) throws -> Date? {
    try (optional(column) as Int64?).map { Date(microseconds: $0) }
  }

  func timestamp(_ column: String) throws -> Timestamp? {
    try (optional(column) as Int64?).map { Timestamp(microseconds: $0) }
  }

  /// Returns the set in a column that holds a JSON array of distinct values; nil for NULL.
  func set<Value: Hashable & Decodable>(_ column: String) throws -> Set<Value>? {
    guard let json: String = try optional(column) else { return nil }
    guard let values = try? JSONDecoder().decode(Set<Value>.self, from: Data(json.utf8)) else {
      throw MalformedRow(column: column)
    }
    return values
  }

  func requiredDate(_ column: String) throws -> Date { Date(microseconds: try required(column)) }

  func fingerprint(_ column: String) throws -> Fingerprint? {
    guard let data: Data = try optional(column) else { return nil }
    guard let fingerprint = Fingerprint(bytes: data) else { throw MalformedRow(column: column) }
    return fingerprint
  }

  func peerID(_ column: String = "id") throws -> PeerID {
    guard let id = PeerID(hex: try required(column) as String) else { throw MalformedRow(column: column) }
    return id
  }

  func optionalPeerID(_ column: String) throws -> PeerID? {
    (self[column] as DatabaseValue).isNull ? nil : try peerID(column)
  }
}

extension Date {
  init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

  /// The microseconds since 1970. Dates out of range are clamped.
  var microseconds: Int64 {
    let value = (timeIntervalSince1970 * 1_000_000).rounded()
    return Int64(exactly: value) ?? (value > 0 ? .max : .min)
  }
}

extension ClientRecord {
  init(_ row: Row) throws {
    guard let hash = TokenHash(bytes: try row.required("tokenHash") as Data) else {
      throw MalformedRow(column: "tokenHash")
    }
    guard let method = PairedClient.Method(rawValue: try row.required("method")) else {
      throw MalformedRow(column: "method")
    }
    self.init(
      id: try row.peerID(), formerID: try row.optionalPeerID("formerID"), name: try row.required("name"),
      tokenHash: hash, method: method, scope: try SampleFilter(row),
      isOnlyDaily: try row.required("onlyDaily"),
      created: try row.requiredDate("created"), lastSeen: try row.date("lastSeen"),
      expires: try row.requiredDate("expires"), tokenLifetime: TimeInterval(try row.required("lifetime") as Int64),
      revoked: try row.date("revoked"),
      certificateFingerprint: try row.fingerprint("certificate"), isBound: try row.required("isBound"))
  }
}

extension SampleFilter {
  init(_ row: Row) throws {
    self.init(
      types: try row.set("types"), earliest: try row.timestamp("earliest"),
      end: try row.timestamp("scopeEnd"), sources: try row.set("sources"))
  }

  /// Returns the JSON for the column `types`.
  func typesJSON() throws -> String? { try Self.json(types?.map(\.rawValue)) }

  /// Returns the JSON for the column `sources`.
  func sourcesJSON() throws -> String? { try Self.json(sources.map(Array.init)) }

  private static func json(_ texts: [String]?) throws -> String? {
    try texts.map { String(decoding: try JSONEncoder().encode($0.sorted()), as: UTF8.self) }
  }
}

extension ServerRecord {
  init(_ row: Row) throws {
    guard let fingerprint = try row.fingerprint("fingerprint") else { throw MalformedRow(column: "fingerprint") }
    guard let credential = BearerCredential(text: try row.required("credential")) else {
      throw MalformedRow(column: "credential")
    }
    let port: Int64? = try row.optional("port")
    self.init(
      id: try row.peerID(), name: try row.required("name"), fingerprint: fingerprint, credential: credential,
      dialect: try row.required("dialect"), host: try row.optional("host"),
      port: port.flatMap { UInt16(exactly: $0) }, created: try row.requiredDate("created"),
      lastUsed: try row.date("lastUsed"), expires: try row.date("expires"))
  }
}
