import Foundation
import GRDB
import HealthModel
import PeerProtocol

/// The clients that may read this machine's record.
extension PeerRegistry {
  /// Adds a client that has just paired. One that was there already, even revoked, has its token replaced; its scope stays
  /// as it was unless the window granted one, so that pairing again never widens what somebody had narrowed. What it was
  /// there under is its certificate, or the one before it: a client with another certificate is another client.
  ///
  /// - Returns: the id of a client that was there under the certificate before, as ``PairedClient/rotation`` shows it.
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
      // One chance in 2^128, unless the file was tampered with.
      guard db.changesCount > 0 else { throw PeerRegistryError.damaged(path: path, reason: "two machines with one id") }
      // A pairing that was replaced.
      try db.execute(sql: "DELETE FROM personClaim WHERE tokenHash NOT IN (SELECT tokenHash FROM client)")
      return former
    }
  }

  /// Whether a request with this token may pass, and how far.
  ///
  /// - Parameter certificate: of the client's certificate in this connection, if it showed one.
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

  /// Notes that a client was here and makes its token valid for its lifetime from now. Writes at most once a minute per client,
  /// so it may be called for every request.
  ///
  /// - Parameter name: what it calls itself by now; `nil` if it does not say.
  /// - Returns: whether it was given another name.
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

  /// All clients, also revoked and expired ones, the oldest pairing first.
  public func clients() async throws -> [ClientRecord] {
    try await read(Self.fetchClients)
  }

  /// Narrows or widens what a client may read.
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

  /// Says whether a client may ask for numbers of days only. Where that is new, the zone of these days is chosen anew.
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

  /// The zone of the days that a client is told who may have days only: the one of the first that it was told. From days of two
  /// zones, the difference of which is some hours, it could tell these.
  ///
  /// - Parameter home: the IANA name of the zone where none has been chosen.
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

  /// Makes a client's token valid for so many seconds from now, and from each later use.
  /// - Throws: `notFound`, also for a token that has been revoked or has expired: nothing brings those back but pairing.
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
