import Foundation
import GRDB
import PeerProtocol

/// The servers that this machine pulls from.
extension PeerRegistry {
  /// Adds a server, or replaces the one with the same ID.
  public func addServer(_ server: ServerRecord) async throws {
    try await write { db in
      // Each pairing has a new key, so an agreement made under the old key is void.
      try Self.forgetAgreement(with: server.id, db)
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO server
            (id, name, fingerprint, credential, dialect, host, port, created, lastUsed, expires)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          server.id.hex, server.name, Data(server.fingerprint.bytes), server.credential.text, server.dialect,
          server.host,
          server.port.map { Int64($0) }, server.created.microseconds, server.lastUsed?.microseconds,
          server.expires?.microseconds,
        ])
    }
  }

  /// Returns all servers, ordered by pairing date.
  public func servers() async throws -> [ServerRecord] {
    try await read(Self.fetchServers)
  }

  /// Returns the server that matches a name, an ID or the beginning of an ID.
  /// - Throws: `notFound`, or `ambiguous` with the IDs that the text fits.
  public func server(matching text: String) async throws -> ServerRecord {
    try await read { db in try Self.match(text, in: Self.fetchServers(db), name: \.name) }
  }

  /// Returns the server with an id, or `nil` if this machine is not paired with it.
  public func server(id: PeerID) async throws -> ServerRecord? {
    try await read { db in
      try Row.fetchOne(db, sql: "SELECT * FROM server WHERE id = ?", arguments: [id.hex]).map(ServerRecord.init)
    }
  }

  /// Removes a server with its pinned certificate and its credential. Returns false if there is none.
  @discardableResult
  public func removeServer(id: PeerID) async throws -> Bool {
    try await write { db in
      try Self.forgetAgreement(with: id, db)
      try db.execute(sql: "DELETE FROM server WHERE id = ?", arguments: [id.hex])
      return db.changesCount > 0
    }
  }

  /// Stores a server's current name for itself.
  /// - Throws: `notFound`.
  public func renameServer(id: PeerID, to name: String) async throws {
    try await write { db in
      try db.execute(sql: "UPDATE server SET name = ? WHERE id = ?", arguments: [name, id.hex])
      if db.changesCount == 0 { throw PeerRegistryError.notFound(id.hex) }
    }
  }

  private static func forgetAgreement(with server: PeerID, _ db: Database) throws {
    try db.execute(sql: "DELETE FROM personAgreement WHERE server = ?", arguments: [server.hex])
  }

  /// Stores the address at which a server was found.
  /// - Throws: `notFound`.
  public func updateServer(id: PeerID, host: String?, port: UInt16?) async throws {
    try await write { db in
      try db.execute(
        sql: "UPDATE server SET host = ?, port = ? WHERE id = ?", arguments: [host, port.map { Int64($0) }, id.hex])
      if db.changesCount == 0 { throw PeerRegistryError.notFound(id.hex) }
    }
  }

  /// Records that a server was used, and the new expiry of its credential.
  /// - Parameter expires: the new expiry; nil keeps the stored value.
  /// - Throws: `notFound`.
  public func markServerUsed(id: PeerID, expires: Date? = nil, now: Date = Date()) async throws {
    try await write { db in
      try db.execute(
        sql: "UPDATE server SET lastUsed = ?, expires = coalesce(?, expires) WHERE id = ?",
        arguments: [now.microseconds, expires?.microseconds, id.hex])
      if db.changesCount == 0 { throw PeerRegistryError.notFound(id.hex) }
    }
  }

  static func fetchServers(_ db: Database) throws -> [ServerRecord] {
    try Row.fetchAll(db, sql: "SELECT * FROM server ORDER BY created, id").map(ServerRecord.init)
  }
}
