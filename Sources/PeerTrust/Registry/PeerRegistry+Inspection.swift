import Foundation
import GRDB

extension PeerRegistry {
  /// Who is paired with this machine, as a look that changes nothing shows it.
  public struct Inspection: Sendable {
    /// All clients, also revoked and expired ones.
    public let clients: [ClientRecord]
    public let servers: [ServerRecord]

    public init(clients: [ClientRecord], servers: [ServerRecord]) {
      self.clients = clients
      self.servers = servers
    }
  }

  /// Reads the registry without making, migrating or locking anything. Nil if there is none yet.
  public static func inspect(in directory: URL) async throws(PeerRegistryError) -> Inspection? {
    try await BlockingWork.run { () throws(PeerRegistryError) -> Inspection? in
      let path = "\(directory.path)/\(fileName)"
      guard PrivateFile.exists(path) else { return nil }
      do { return try inspect(path) } catch { throw PeerRegistryError(error, path: path) }
    }
  }

  private static func inspect(_ path: String) throws -> Inspection {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    // Without a log, or without the log's index, SQLite would make it.
    let isAtRest = isEmpty("\(path)-wal") || isEmpty("\(path)-shm")
    let queue = try DatabaseQueue(path: isAtRest ? immutableURI(path) : path, configuration: configuration)
    defer { try? queue.close() }
    return try queue.read { db in
      if try PeerSchema.migrator.hasBeenSuperseded(db) { throw PeerRegistryError.newerSchema(path: path) }
      guard try db.tableExists("client"), try db.tableExists("server") else {
        return Inspection(clients: [], servers: [])
      }
      do {
        return Inspection(clients: try fetchClients(db), servers: try fetchServers(db))
      } catch let row as MalformedRow {
        throw PeerRegistryError.damaged(path: path, reason: "column \(row.column)")
      }
    }
  }

  /// Whether there is nothing at `path`, or a file of no bytes.
  private static func isEmpty(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) != 0 || status.st_size == 0
  }

  /// https://www.sqlite.org/uri.html: no locks, no log, no change detection.
  private static func immutableURI(_ path: String) -> String {
    "file:\(path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path)?immutable=1"
  }
}
