import Foundation
import GRDB
import PeerProtocol

/// That this machine was put back from a backup, and who may know what was deleted since that was made.
public struct Restoration: Sendable {
  /// When the backup was made.
  public var made: Date
  /// Servers that have not been pulled from since.
  public var servers: [ServerRecord]
  /// Clients that this machine does not pull from, so that they cannot be asked.
  public var clients: [ClientRecord]
}

/// Until everybody who may know has said what was deleted since the backup, no client is answered, because others would be
/// told that it is there: the registry is locked.
extension PeerRegistry {
  /// Notes that this machine was put back, and locks it where anybody is paired.
  ///
  /// - Parameter made: when the backup was made.
  /// - Returns: `nil` where nobody has to be asked.
  public func beginRestoration(made: Date, now: Date = Date()) async throws -> Restoration? {
    try await write { db in
      try db.execute(sql: "DELETE FROM restoration; DELETE FROM restorationPeer")
      // What apps have sent may not be in the store that was put back: they may send it again, and it counts as of when it came.
      try db.execute(sql: "UPDATE inboxBody SET answer = ''")
      for server in try Self.fetchServers(db) where server.dialect == "hpeer" {
        try Self.insert(server.id, isServer: true, db)
      }
      let servers = Set(try Self.fetchServers(db).map { PeerID(certificate: $0.fingerprint) })
      for client in try Self.fetchClients(db) where client.revoked == nil && client.expires > made {
        // Other apps keep no deletions.
        guard client.method == .spake2, !servers.contains(client.id) else { continue }
        try Self.insert(client.id, isServer: false, db)
      }
      guard try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM restorationPeer") ?? 0 > 0 else { return nil }
      try db.execute(
        sql: "INSERT INTO restoration(id, made, wasLocked) VALUES (1, ?, EXISTS (SELECT * FROM servingLock))",
        arguments: [made.microseconds])
      try db.execute(sql: "INSERT OR IGNORE INTO servingLock(id, since) VALUES (1, ?)", arguments: [now.microseconds])
      return try Self.restoration(db)
    }
  }

  /// Who has not been asked yet; `nil` where this machine was not put back, or all is done.
  public func restoration() async throws -> Restoration? { try await read(Self.restoration) }

  /// Notes that everything was pulled from a server, or that the machine was unpaired.
  ///
  /// - Returns: whether that was the last, so that clients are answered again.
  @discardableResult
  public func notePulled(from server: PeerID) async throws -> Bool {
    try await write { db in
      guard try Self.restoration(db) != nil else { return false }
      // It reads here, too: what it knows, it has said.
      let twin = try Self.fetchServers(db).first { $0.id == server }.map { PeerID(certificate: $0.fingerprint) }
      for id in [server, twin].compactMap(\.self) {
        try db.execute(sql: "DELETE FROM restorationPeer WHERE id = ?", arguments: [id.hex])
      }
      guard let left = try Self.restoration(db), left.servers.isEmpty, left.clients.isEmpty else { return false }
      try Self.endRestoration(db)
      return true
    }
  }

  /// Ends the waiting, because the owner says so, or nobody is left to wait for. False where there was none.
  @discardableResult
  public func endRestoration() async throws -> Bool {
    try await write { db in
      guard try Self.restoration(db) != nil else { return false }
      try Self.endRestoration(db)
      return true
    }
  }

  private static func insert(_ id: PeerID, isServer: Bool, _ db: Database) throws {
    try db.execute(
      sql: "INSERT OR IGNORE INTO restorationPeer(id, isServer) VALUES (?, ?)", arguments: [id.hex, isServer])
  }

  private static func endRestoration(_ db: Database) throws {
    // Locked by its owner before, it stays so.
    if try Bool.fetchOne(db, sql: "SELECT wasLocked FROM restoration") != true {
      try db.execute(sql: "DELETE FROM servingLock")
    }
    try db.execute(sql: "DELETE FROM restoration; DELETE FROM restorationPeer")
  }

  private static func restoration(_ db: Database) throws -> Restoration? {
    guard let made = try Int64.fetchOne(db, sql: "SELECT made FROM restoration") else { return nil }
    let servers = try String.fetchSet(db, sql: "SELECT id FROM restorationPeer WHERE isServer")
    let clients = try String.fetchSet(db, sql: "SELECT id FROM restorationPeer WHERE NOT isServer")
    // Those that were unpaired meanwhile are nobody any more.
    return Restoration(
      made: Date(microseconds: made), servers: try fetchServers(db).filter { servers.contains($0.id.hex) },
      clients: try fetchClients(db).filter { $0.revoked == nil && clients.contains($0.id.hex) })
  }
}
