import Foundation
import GRDB
import PeerProtocol

/// A pending restoration: this machine was restored from a backup, and these peers may know what was deleted since.
public struct Restoration: Sendable {
  /// The date of the backup.
  public var made: Date
  /// The servers that this machine has not pulled from since the restoration.
  public var servers: [ServerRecord]
  /// The clients that this machine does not pull from, so they cannot be asked.
  public var clients: [ClientRecord]
}

/// The restoration lock. The registry stays locked until every peer has reported what was deleted since the backup:
/// otherwise clients would receive samples that were deleted.
extension PeerRegistry {
  /// Records that this machine was restored, and locks it if any peer is paired.
  ///
  /// - Parameter made: the date of the backup.
  /// - Returns: `nil` if there is no peer to ask.
  public func beginRestoration(made: Date, now: Date = Date()) async throws -> Restoration? {
    try await write { db in
      try db.execute(sql: "DELETE FROM restoration; DELETE FROM restorationPeer")
      // Samples that apps sent may be missing in the restored store, so apps may send them again. Their receipt dates
      // stay.
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

  /// Returns the peers still to be asked, or `nil` if no restoration is pending.
  public func restoration() async throws -> Restoration? { try await read(Self.restoration) }

  /// Records that everything was pulled from a server, or that the server was unpaired.
  ///
  /// - Returns: whether that was the last peer, so that clients are answered again.
  @discardableResult
  public func notePulled(from server: PeerID) async throws -> Bool {
    try await write { db in
      guard try Self.restoration(db) != nil else { return false }
      // The server also reads here as a client. The pull covers what it knows in both roles.
      let twin = try Self.fetchServers(db).first { $0.id == server }.map { PeerID(certificate: $0.fingerprint) }
      for id in [server, twin].compactMap(\.self) {
        try db.execute(sql: "DELETE FROM restorationPeer WHERE id = ?", arguments: [id.hex])
      }
      guard let left = try Self.restoration(db), left.servers.isEmpty, left.clients.isEmpty else { return false }
      try Self.endRestoration(db)
      return true
    }
  }

  /// Ends the wait, because the owner decides so or no peer is left. Returns false if no restoration is pending.
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
    // A lock that the owner set before the restoration stays.
    if try Bool.fetchOne(db, sql: "SELECT wasLocked FROM restoration") != true {
      try db.execute(sql: "DELETE FROM servingLock")
    }
    try db.execute(sql: "DELETE FROM restoration; DELETE FROM restorationPeer")
  }

  private static func restoration(_ db: Database) throws -> Restoration? {
    guard let made = try Int64.fetchOne(db, sql: "SELECT made FROM restoration") else { return nil }
    let servers = try String.fetchSet(db, sql: "SELECT id FROM restorationPeer WHERE isServer")
    let clients = try String.fetchSet(db, sql: "SELECT id FROM restorationPeer WHERE NOT isServer")
    // Peers that were unpaired meanwhile no longer count.
    return Restoration(
      made: Date(microseconds: made), servers: try fetchServers(db).filter { servers.contains($0.id.hex) },
      clients: try fetchClients(db).filter { $0.revoked == nil && clients.contains($0.id.hex) })
  }
}
