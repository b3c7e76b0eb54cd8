import Foundation
import GRDB
import OperatingSystem
import PeerProtocol
import SQLiteFiles

/// The registry of paired machines, in `peers.sqlite`: the clients that may read from this machine and the servers
/// that it pulls from.
///
/// Any number of processes may use one registry at once. Every function is asynchronous and throws
/// ``PeerRegistryError``, or `CancellationError` when its task is cancelled.
///
/// ```swift
/// let registry = try await PeerRegistry.open(in: URL(fileURLWithPath: "/home/casey/.local/share/hpeer"))
/// let studio = try await registry.server(matching: "studio")
/// for client in try await registry.clients() where client.revoked == nil { print(client.name, client.scope) }
/// ```
public struct PeerRegistry: Sendable {
  /// The name of the registry file in the home directory.
  public static let fileName = "peers.sqlite"

  let pool: any DatabaseWriter

  /// Opens the registry, and creates it if there is none.
  ///
  /// - Parameter directory: the home directory, created (0700) if it is missing; the file is 0600.
  /// - Throws: `newerSchema` if a newer hpeer wrote the file, which is left untouched.
  public static func open(in directory: URL) async throws(PeerRegistryError) -> PeerRegistry {
    try await onThread { (_) throws(PeerRegistryError) -> PeerRegistry in
      let path = "\(directory.path)/\(fileName)"
      do {
        try PrivateFile.makeDirectory(directory.path)
        // Two processes must neither switch to WAL nor migrate at the same time.
        return try FileLock.withLock("\(directory.path)/.peers.lock") {
          try SQLiteFile(path).requireNoLinks()
          // SQLite gives the -wal and -shm files the mode of the database.
          if PrivateFile.mode(path) != nil {
            if let open = SQLiteFile(path).openToOthers.first { throw PeerRegistryError.permissionsTooOpen(path: open) }
            try requireKnownSchema(path)
          } else {
            try PrivateFile.create(path, [])
          }
          return PeerRegistry(pool: try connect(path))
        }
      } catch {
        throw PeerRegistryError(error, path: path)
      }
    }
  }

  /// Opens the registry for reading. Returns an empty registry in memory if there is none, so that reading creates no
  /// file, and a copy in memory if the file is not writable.
  public static func openForReading(in directory: URL) async throws(PeerRegistryError) -> PeerRegistry {
    let path = "\(directory.path)/\(fileName)"
    if PrivateFile.exists(path) {
      guard isWritable(in: directory) else { return try await copy(of: path) }
      do throws(PeerRegistryError) {
        return try await open(in: directory)
      } catch {
        guard case .diskFull = error else { throw error }
        return try await copy(of: path)
      }
    }
    do {
      let queue = try DatabaseQueue()
      try PeerSchema.migrate(queue)
      return PeerRegistry(pool: queue)
    } catch {
      throw PeerRegistryError(error, path: path)
    }
  }

  /// Returns an in-memory copy of the committed registry.
  private static func copy(of path: String) async throws(PeerRegistryError) -> PeerRegistry {
    try await onThread { (_) throws(PeerRegistryError) -> PeerRegistry in
      do {
        try SQLiteFile(path).requireNoLinks()
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        let source = SQLiteFile(path).forReading(&configuration)
        let original = try DatabaseQueue(path: source, configuration: configuration)
        defer { try? original.close() }
        try original.read { db in try PeerSchema.requireKnown(db, path: path) }
        let queue = try DatabaseQueue()
        try original.backup(to: queue)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
        try PeerSchema.migrate(queue)
        return PeerRegistry(pool: queue)
      } catch {
        throw PeerRegistryError(error, path: path)
      }
    }
  }

  private static func connect(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    configuration.maximumReaderCount = 2
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
    let pool = try DatabasePool(path: path, configuration: configuration)
    // A token must survive a power failure: its client believes that it is paired. Not in the configuration, because
    // the pool sets NORMAL after that.
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    try PeerSchema.migrate(pool)
    return pool
  }

  /// Throws if the schema is unknown. Reads through a read-only connection, because a pool would change the file's
  /// journal mode even when it closes.
  private static func requireKnownSchema(_ path: String) throws {
    try finishRollback(path)
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    try queue.read { db in try PeerSchema.requireKnown(db, path: path) }
  }

  /// Rolls back the journal of a first run that was killed before the file switched to WAL. A read-only connection
  /// cannot read the file then; a writable connection rolls back as soon as it reads.
  private static func finishRollback(_ path: String) throws {
    guard PrivateFile.exists("\(path)-journal") else { return }
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    try queue.read { try $0.execute(sql: "SELECT COUNT(*) FROM sqlite_master") }
  }

  // MARK: Access

  func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    do { return try await pool.read(body) } catch { throw translated(error) }
  }

  func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    do { return try await pool.write(body) } catch { throw translated(error) }
  }

  private func translated(_ error: any Error) -> any Error {
    switch error {
    case is CancellationError: error
    case let row as MalformedRow: PeerRegistryError.damaged(path: pool.path, reason: "column \(row.column)")
    default: PeerRegistryError(error, path: pool.path)
    }
  }

  /// Returns the single peer that a person means by a text: a whole ID, an exact name, or at least the first four
  /// digits of its ID or former ID.
  ///
  /// A whole ID always wins, so that a peer cannot hide another by choosing its ID as a name.
  static func match<Peer: Identifiable>(
    _ text: String, in peers: [Peer], name: (Peer) -> String, formerID: (Peer) -> PeerID? = { _ in nil }
  ) throws(PeerRegistryError) -> Peer where Peer.ID == PeerID {
    if let id = PeerID(hex: text), let peer = peers.first(where: { $0.id == id }) { return peer }
    let prefix = text.lowercased()
    let candidates = peers.filter { peer in
      name(peer) == text
        || (prefix.utf8.count >= 4
          && (peer.id.hex.hasPrefix(prefix) || formerID(peer)?.hex.hasPrefix(prefix) == true))
    }
    guard let peer = candidates.first else { throw .notFound(text) }
    guard candidates.count == 1 else { throw .ambiguous(text, ids: candidates.map(\.id)) }
    return peer
  }
}
