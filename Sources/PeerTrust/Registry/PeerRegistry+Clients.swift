import Foundation
import GRDB
import HealthModel
import PeerProtocol

/// The clients that may read this machine's record.
extension PeerRegistry {
  /// Adds a client that has just paired, or replaces the token of a known client, even a revoked one.
  ///
  /// A known client keeps its scope unless the pairing window granted one, so pairing again never widens a scope that
  /// the owner had narrowed. A client is recognized by its certificate or the certificate that it replaced: a client
  /// with another certificate is another client.
  ///
  /// - Returns: the former id of a client that was known under the replaced certificate, as ``PairedClient/rotation``
  ///   proves.
  @discardableResult
  public func addClient(_ client: PairedClient) async throws -> PeerID? {
    let path = pool.path
    return try await write { db in
      let former = try Self.follow(client, db)
      try db.execute(
        sql: """
          INSERT INTO client
            (id, name, tokenHash, method, types, earliest, scopeEnd, sources, created, expires, lifetime, certificate,
            isBound)
          VALUES (:id, :name, :hash, :method, :types, :earliest, :end, :sources, :created, :expires, :lifetime, :certificate,
            :isBound)
          ON CONFLICT (id) DO UPDATE SET name = excluded.name, tokenHash = excluded.tokenHash, method = excluded.method,
            types = iif(:hasScope, excluded.types, types), earliest = iif(:hasScope, excluded.earliest, earliest),
            scopeEnd = iif(:hasScope, excluded.scopeEnd, scopeEnd), sources = iif(:hasScope, excluded.sources, sources),
            created = excluded.created, lastSeen = NULL, expires = excluded.expires, lifetime = excluded.lifetime,
            revoked = NULL, isBound = excluded.isBound
            WHERE certificate IS excluded.certificate
          """,
        arguments: [
          "id": client.id.hex, "name": client.name, "hash": Data(client.tokenHash.bytes),
          "method": client.method.rawValue, "types": try client.scope?.typesJSON(),
          "earliest": client.scope?.earliest?.microseconds, "end": client.scope?.end?.microseconds,
          "sources": try client.scope?.sourcesJSON(),
          "created": client.pairedAt.microseconds,
          "expires": client.expiresAt.microseconds, "lifetime": Int64(client.tokenLifetime),
          "certificate": client.certificateFingerprint.map { Data($0.bytes) },
          "isBound": client.certificateFingerprint != nil, "hasScope": client.scope != nil,
        ])
      // The ids collide by chance once in 2^128, so the file was tampered with.
      guard db.changesCount > 0 else { throw PeerRegistryError.damaged(path: path, reason: "two machines with one id") }
      // Pairing again replaced the token, so claims made under the old token no longer count.
      try db.execute(sql: "DELETE FROM personClaim WHERE tokenHash NOT IN (SELECT tokenHash FROM client)")
      return former
    }
  }

  /// Returns the rights of a request with this token, or the reason why it is refused.
  ///
  /// - Parameter certificate: the fingerprint of the client's certificate in this connection, if the client showed
  ///   one.
  public func client(
    tokenHash: TokenHash, certificate: Fingerprint? = nil, now: Date = Date()
  ) async throws -> Result<ClientAuthorization, ClientRefusal> {
    let (record, isLocked) = try await read { db in
      let row = try Row.fetchOne(
        db, sql: "SELECT * FROM client WHERE tokenHash = ?", arguments: [Data(tokenHash.bytes)])
      return (try row.map(ClientRecord.init), try Self.lockedSince(db) != nil)
    }
    guard let record, record.tokenHash == tokenHash else { return .failure(.unknown) }
    if record.revoked != nil { return .failure(.revoked) }
    if record.expires <= now { return .failure(.expired) }
    if record.isBound, certificate == nil || certificate != record.certificateFingerprint {
      return .failure(.wrongCertificate(of: record.id))
    }
    return .success(ClientAuthorization(record, isLocked: isLocked))
  }

  /// Records that a client made a request, and renews its token for its lifetime. Writes at most once a minute per
  /// client, so it may be called for every request.
  ///
  /// - Parameter name: the client's current name for itself; `nil` if the request does not state it.
  /// - Returns: whether the client's name changed.
  @discardableResult
  public func touch(_ client: ClientAuthorization, name: String? = nil, now: Date = Date()) async throws -> Bool {
    let isRecent = client.lastSeen.map { $0 <= now && now < $0 + 60 } ?? false
    if isRecent { return false }
    return try await write { db in
      try db.execute(
        sql: """
          UPDATE client SET lastSeen = :now, expires = :now + lifetime * 1000000, name = coalesce(:name, name)
          WHERE id = :id AND revoked IS NULL AND expires > :now
            AND (lastSeen IS NULL OR lastSeen <= :now - 60000000 OR lastSeen > :now)
          """,
        arguments: ["now": now.microseconds, "id": client.id.hex, "name": name])
      return db.changesCount > 0 && name != nil && name != client.name
    }
  }

  /// Returns all clients, including revoked and expired ones, ordered by pairing date.
  public func clients() async throws -> [ClientRecord] {
    try await read(Self.fetchClients)
  }

  /// Replaces the scope of what a client may read.
  /// - Throws: `notFound`.
  public func setScope(_ scope: SampleFilter, ofClient id: PeerID) async throws {
    try await write { db in
      try db.execute(
        sql: "UPDATE client SET types = ?, earliest = ?, scopeEnd = ?, sources = ? WHERE id = ?",
        arguments: [
          try scope.typesJSON(), scope.earliest?.microseconds, scope.end?.microseconds, try scope.sourcesJSON(), id.hex,
        ])
      if db.changesCount == 0 { throw PeerRegistryError.notFound(id.hex) }
    }
  }

  /// Sets whether a client may only request daily values. A change resets the time zone of its days.
  /// - Throws: `notFound`.
  public func setOnlyDaily(_ isOnlyDaily: Bool, ofClient id: PeerID) async throws {
    try await write { db in
      try db.execute(
        sql: """
          UPDATE client SET onlyDaily = :daily, dailyZone = iif(onlyDaily = :daily, dailyZone, NULL) WHERE id = :id
          """, arguments: ["daily": isOnlyDaily, "id": id.hex])
      if db.changesCount == 0 { throw PeerRegistryError.notFound(id.hex) }
    }
  }

  /// Returns the time zone of the days that a client restricted to daily values receives. The zone is fixed with the
  /// first answer: from daily values in two zones the client could compute values of the few hours by which the zones
  /// differ.
  ///
  /// - Parameter home: the IANA name of the zone to use if none has been chosen yet.
  /// - Throws: `notFound`.
  public func dailyZone(ofClient id: PeerID, home: String) async throws -> String {
    @Sendable func chosen(_ db: Database) throws -> String? {
      guard let row = try Row.fetchOne(db, sql: "SELECT dailyZone FROM client WHERE id = ?", arguments: [id.hex]) else {
        throw PeerRegistryError.notFound(id.hex)
      }
      return row["dailyZone"]
    }
    if let zone = try await read({ try chosen($0) }) { return zone }
    return try await write { db in
      if let zone = try chosen(db) { return zone }
      try db.execute(sql: "UPDATE client SET dailyZone = ? WHERE id = ?", arguments: [home, id.hex])
      return home
    }
  }

  /// Sets the lifetime of a client's token, in seconds, counted from now and again from each later use.
  /// - Throws: `notFound`, also for a token that is revoked or expired: only pairing restores such a token.
  public func setTokenLifetime(_ lifetime: TimeInterval, ofClient id: PeerID, now: Date = Date()) async throws {
    try await write { db in
      try db.execute(
        sql: """
          UPDATE client SET lifetime = :lifetime, expires = :now + :lifetime * 1000000
          WHERE id = :id AND revoked IS NULL AND expires > :now
          """,
        arguments: ["lifetime": Int64(lifetime), "now": now.microseconds, "id": id.hex])
      if db.changesCount == 0 { throw PeerRegistryError.notFound(id.hex) }
    }
  }

  /// Returns the client with an unrevoked token that matches a name, an ID or the beginning of an ID.
  /// - Throws: `notFound`, or `ambiguous` with the IDs that the text fits.
  public func client(matching text: String) async throws -> ClientRecord {
    try await read { db in try Self.activeClient(matching: text, db) }
  }

  /// Revokes the client that matches a name, an ID or the beginning of an ID.
  /// - Throws: `notFound`, or `ambiguous` with the IDs that the text fits.
  @discardableResult
  public func revoke(matching text: String, now: Date = Date()) async throws -> ClientRecord {
    try await write { db in
      let client = try Self.activeClient(matching: text, db)
      try Self.revoke(client.id, now, db)
      return client
    }
  }

  /// Revokes a client. Returns false if there is none or it is already revoked.
  @discardableResult
  public func revoke(id: PeerID, now: Date = Date()) async throws -> Bool {
    try await write { db in
      try Self.revoke(id, now, db)
      return db.changesCount > 0
    }
  }

  /// Revokes every client.
  /// - Returns: the number of clients that were not revoked before.
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
    try match(text, in: fetchClients(db).filter { $0.revoked == nil }, name: \.name, formerID: \.formerID)
  }

  static func fetchClients(_ db: Database) throws -> [ClientRecord] {
    try Row.fetchAll(db, sql: "SELECT * FROM client ORDER BY created, id").map(ClientRecord.init)
  }
}

extension ClientAuthorization {
  init(_ record: ClientRecord, isLocked: Bool) {
    self.init(
      id: record.id, name: record.name, tokenHash: record.tokenHash, method: record.method, scope: record.scope,
      isOnlyDaily: record.isOnlyDaily, lastSeen: record.lastSeen, isLocked: isLocked)
  }
}
