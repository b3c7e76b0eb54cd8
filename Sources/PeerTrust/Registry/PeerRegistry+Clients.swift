import Foundation
import GRDB
import PeerProtocol

/// The clients that may read this machine's record.
extension PeerRegistry {
  /// Adds a client that has just paired. One that was there already, even revoked, has its token and scope replaced.
  public func addClient(_ client: PairedClient, scope: PeerScope = .everything) async throws {
    try await write { db in
      try db.execute(
        sql: """
          INSERT INTO client (id, name, tokenHash, method, types, earliest, created, expires, certificate, isBound)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT (id) DO UPDATE SET name = excluded.name, tokenHash = excluded.tokenHash, method = excluded.method,
            types = excluded.types, earliest = excluded.earliest, created = excluded.created, lastSeen = NULL,
            expires = excluded.expires, revoked = NULL, certificate = excluded.certificate, isBound = excluded.isBound
          """,
        arguments: [
          client.id.hex, client.name, Data(client.tokenHash.bytes), client.method.rawValue, try scope.typesJSON(),
          scope.earliest?.microseconds, client.pairedAt.microseconds, client.expiresAt.microseconds,
          client.certificateFingerprint.map { Data($0.bytes) }, client.certificateFingerprint != nil,
        ])
    }
  }

  /// Whether a request with this token may pass, and how far.
  ///
  /// - Parameter certificate: of the client's certificate in this connection, if it showed one.
  public func client(
    tokenHash: TokenHash, certificate: Fingerprint? = nil, now: Date = Date()
  ) async throws -> Result<ClientAuthorization, ClientRefusal> {
    let record = try await read { db in
      try Row.fetchOne(db, sql: "SELECT * FROM client WHERE tokenHash = ?", arguments: [Data(tokenHash.bytes)])
        .map(ClientRecord.init)
    }
    guard let record, record.tokenHash == tokenHash else { return .failure(.unknown) }
    if record.revoked != nil { return .failure(.revoked) }
    if record.expires <= now { return .failure(.expired) }
    if record.isBound, certificate == nil || certificate != record.certificateFingerprint {
      return .failure(.wrongCertificate)
    }
    return .success(
      ClientAuthorization(
        id: record.id, name: record.name, method: record.method, scope: record.scope, lastSeen: record.lastSeen))
  }

  /// Notes that a client was here and makes its token valid for 30 days more. Writes at most once a minute per client,
  /// so it may be called for every request.
  public func touch(_ client: ClientAuthorization, now: Date = Date()) async throws {
    let isRecent = client.lastSeen.map { $0 <= now && now < $0 + 60 } ?? false
    if isRecent { return }
    try await write { db in
      try db.execute(
        sql: """
          UPDATE client SET lastSeen = :now, expires = :expires
          WHERE id = :id AND revoked IS NULL AND expires > :now
            AND (lastSeen IS NULL OR lastSeen <= :now - 60000000 OR lastSeen > :now)
          """,
        arguments: [
          "now": now.microseconds, "expires": (now + Self.tokenLifetime).microseconds, "id": client.id.hex,
        ])
    }
  }

  /// All clients, also revoked and expired ones, the oldest pairing first.
  public func clients() async throws -> [ClientRecord] {
    try await read(Self.fetchClients)
  }

  /// Narrows or widens what a client may read.
  /// - Throws: `notFound`.
  public func setScope(_ scope: PeerScope, ofClient id: PeerID) async throws {
    try await write { db in
      try db.execute(
        sql: "UPDATE client SET types = ?, earliest = ? WHERE id = ?",
        arguments: [try scope.typesJSON(), scope.earliest?.microseconds, id.hex])
      if db.changesCount == 0 { throw PeerRegistryError.notFound(id.hex) }
    }
  }

  /// The one client with a token that a name, an ID or the beginning of an ID means.
  /// - Throws: `notFound`, or `ambiguous` with the IDs that the text fits.
  public func client(matching text: String) async throws -> ClientRecord {
    try await read { db in try Self.activeClient(matching: text, db) }
  }

  /// Revokes the one client that a name, an ID or the beginning of an ID means.
  /// - Throws: `notFound`, or `ambiguous` with the IDs that the text fits.
  @discardableResult
  public func revoke(matching text: String, now: Date = Date()) async throws -> ClientRecord {
    try await write { db in
      let client = try Self.activeClient(matching: text, db)
      try Self.revoke(client.id, now, db)
      return client
    }
  }

  /// Revokes a client. False if there is none, or it is revoked already.
  @discardableResult
  public func revoke(id: PeerID, now: Date = Date()) async throws -> Bool {
    try await write { db in
      try Self.revoke(id, now, db)
      return db.changesCount > 0
    }
  }

  /// Revokes every client.
  /// - Returns: how many were not revoked before.
  @discardableResult
  public func revokeAll(now: Date = Date()) async throws -> Int {
    try await write { db in
      try db.execute(sql: "UPDATE client SET revoked = ? WHERE revoked IS NULL", arguments: [now.microseconds])
      return db.changesCount
    }
  }

  private static func revoke(_ id: PeerID, _ now: Date, _ db: Database) throws {
    try db.execute(
      sql: "UPDATE client SET revoked = ? WHERE id = ? AND revoked IS NULL", arguments: [now.microseconds, id.hex])
  }

  private static func activeClient(matching text: String, _ db: Database) throws -> ClientRecord {
    try match(text, in: fetchClients(db).filter { $0.revoked == nil }, name: \.name)
  }

  static func fetchClients(_ db: Database) throws -> [ClientRecord] {
    try Row.fetchAll(db, sql: "SELECT * FROM client ORDER BY created, id").map(ClientRecord.init)
  }
}
