import Foundation
import GRDB
import HealthModel

/// The health record on this machine: immutable samples, tombstones, one change counter, and the audit log.
///
/// A store is one SQLite file in a directory of mode 0700. Any number of processes may use it at once; a write waits up
/// to ``busyTimeout`` for another process's. Everything that happens gets the next number of one counter, and a
/// position in that sequence is an ``Anchor``:
///
///     let store = try HealthStore(directory: home)
///     try await store.apply(ChangeBatch(additions: samples))
///     let page = try await store.changes(since: .zero, limit: 1000)
///
/// Nothing here knows of the network, and nothing ever deletes the file to recover.
public final class HealthStore: Sendable {
  /// How long a write waits for another process, in seconds.
  public static let busyTimeout = 30.0

  /// Names this store; made once.
  public let id: UUID
  /// 32 random bytes, made once, for whoever hands out positions that nobody else shall read or forge. Secret.
  public let positionKey: Data
  public let path: String
  let pool: DatabasePool
  let epochs: EpochKeeper
  let watch: StoreWatch

  /// Opens the store in `directory`, making both where `create` allows it.
  ///
  /// - Parameter busyTimeout: in seconds; see ``busyTimeout``.
  public init(
    directory: String, create: Bool = true, busyTimeout: Double = HealthStore.busyTimeout
  ) throws(StoreError) {
    let path = directory + "/store.sqlite"
    self.path = path
    do {
      if create {
        try PrivateDirectory.prepare(directory)
      } else if PrivateDirectory.isEmpty(path), PrivateDirectory.isEmpty(path + "-wal") {
        throw StoreError.missing(path: path)
      }
      pool = try PrivateDirectory.locked(directory + "/store.lock") {
        try Self.requireFileOfLog(path)
        try PrivateDirectory.createFile(path)
        try Schema.requireKnown(path: path)
        let pool = try DatabasePool(path: path, configuration: Self.configuration(busyTimeout: busyTimeout))
        // A change number that a peer was told must not be given out again after a power failure: in WAL mode, NORMAL
        // takes back what was committed last. Not in the configuration, because the pool sets NORMAL after that.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try Schema.migrate(pool)
        return pool
      }
      watch = StoreWatch(pool)
      (id, positionKey, epochs) = try pool.read { db in
        (try Schema.storeID(db), try Schema.positionKey(db), try EpochKeeper(db))
      }
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// SQLite throws a write-ahead log away when the file that it belongs to is empty or gone. What is in that log may be
  /// all that is left.
  private static func requireFileOfLog(_ path: String) throws {
    guard PrivateDirectory.isEmpty(path), !PrivateDirectory.isEmpty(path + "-wal") else { return }
    throw StoreError.corrupt(path: path, detail: "it is empty or gone, but its write-ahead log is not")
  }

  private static func configuration(busyTimeout: Double) -> Configuration {
    var configuration = Configuration()
    configuration.busyMode = .timeout(busyTimeout)
    configuration.label = "hpeer.store"
    configuration.maximumReaderCount = 8
    // Dictionary rows are never deleted, and checking five references would be most of the cost of an insert.
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA cache_size = -16384")
      // Without a limit the WAL keeps the size of the largest import for ever.
      try db.execute(sql: "PRAGMA journal_size_limit = 67108864")
    }
    return configuration
  }

  func read<T: Sendable>(_ body: @Sendable @escaping (Database) throws -> T) async throws(StoreError) -> T {
    do {
      return try await pool.read(body)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  func write<T: Sendable>(_ body: @Sendable @escaping (Database) throws -> T) async throws(StoreError) -> T {
    do {
      let value = try await pool.write(body)
      watch.committed()
      return value
    } catch {
      throw StoreError(error, path: path)
    }
  }
}
