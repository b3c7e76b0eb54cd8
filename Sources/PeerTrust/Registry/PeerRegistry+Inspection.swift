import Foundation
import GRDB
import OperatingSystem
import SQLiteFiles

extension PeerRegistry {
  /// A read-only snapshot of the machines and apps that are paired with this machine.
  public struct Inspection: Sendable {
    /// All clients, including revoked and expired ones.
    public let clients: [ClientRecord]
    /// All servers, ordered by pairing date.
    public let servers: [ServerRecord]
    /// The names of apps that may send to the inbox.
    public let inboxSenders: [String]

    /// Creates an inspection from given values, for tests. ``PeerRegistry/inspect(in:)`` reads a registry.
    public init(clients: [ClientRecord], servers: [ServerRecord], inboxSenders: [String] = []) {
      self.clients = clients
      self.servers = servers
      self.inboxSenders = inboxSenders
    }

    /// Returns the server that matches a name, an ID or the beginning of an ID.
    /// - Throws: `notFound`, `ambiguous`.
    public func server(matching text: String) throws(PeerRegistryError) -> ServerRecord {
      try PeerRegistry.match(text, in: servers, name: \.name)
    }

    /// Returns the client that matches a name, an ID, a former ID or the beginning of either.
    ///
    /// - Throws: `notFound`, `ambiguous`.
    public func client(matching text: String) throws(PeerRegistryError) -> ClientRecord {
      try PeerRegistry.match(text, in: clients, name: \.name, formerID: \.formerID)
    }
  }

  /// Returns whether the registry in `directory` can be opened for writing. True if there is no registry yet.
  public static func isWritable(in directory: URL) -> Bool {
    !exists(in: directory) || SQLiteFile("\(directory.path)/\(fileName)").isWritable
  }

  /// Returns whether `directory` contains a registry.
  public static func exists(in directory: URL) -> Bool { PrivateFile.exists("\(directory.path)/\(fileName)") }

  /// Reads the registry without creating, migrating or locking it. Returns nil if there is none yet.
  public static func inspect(in directory: URL) async throws(PeerRegistryError) -> Inspection? {
    try await onThread { (_) throws(PeerRegistryError) -> Inspection? in
      let path = "\(directory.path)/\(fileName)"
      guard PrivateFile.exists(path) else { return nil }
      do { return try inspect(path) } catch { throw PeerRegistryError(error, path: path) }
    }
  }

  /// Returns whether no machine was ever paired with this one and no app may send to its inbox. True if there is no
  /// registry, false if it cannot be read.
  public static func isUnused(in directory: URL) async -> Bool {
    guard exists(in: directory) else { return true }
    do {
      let registry = try await open(in: directory)
      let (clients, servers) = (try await registry.clients(), try await registry.servers())
      return try await registry.inboxSenders().isEmpty && clients.isEmpty && servers.isEmpty
    } catch {
      return false
    }
  }

  private static func inspect(_ path: String) throws -> Inspection {
    try SQLiteFile(path).requireNoLinks()
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    let source = SQLiteFile(path).forReading(&configuration)
    let queue = try DatabaseQueue(path: source, configuration: configuration)
    defer { try? queue.close() }
    return try queue.read { db in
      try PeerSchema.requireKnown(db, path: path)
      guard try db.tableExists("client"), try db.tableExists("server") else {
        return Inspection(clients: [], servers: [])
      }
      do {
        let senders =
          try db.tableExists("inboxSender")
          ? String.fetchAll(db, sql: "SELECT name FROM inboxSender WHERE revoked IS NULL ORDER BY name") : []
        return Inspection(clients: try fetchClients(db), servers: try fetchServers(db), inboxSenders: senders)
      } catch let row as MalformedRow {
        throw PeerRegistryError.damaged(path: path, reason: "column \(row.column)")
      }
    }
  }
}
