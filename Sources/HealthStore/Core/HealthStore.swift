import Foundation
import GRDB
import HealthModel
import OperatingSystem
import SQLiteFiles

/// The health record on this machine: immutable samples, tombstones, one change counter, and the audit log.
///
/// A store is one SQLite file in a directory that no other user may write to. Any number of processes may use it at
/// once; a write waits up to ``busyTimeout`` for another process's. Every change gets the next number of one counter,
/// and a position in that sequence is an ``Anchor``:
///
/// ```swift
/// func copy(_ samples: [Sample]) async throws {
///   let store = try HealthStore(directory: "/home/casey/.local/share/hpeer")
///   let written = try await store.apply(ChangeBatch(additions: samples))
///   print("\(written.added) added, \(written.unchanged) here already")
///
///   var page = try await store.feed.changes(since: .zero, limit: 1000)
///   while true {
///     for change in page.changes {
///       switch change {
///       case .added(let sample): print("+", sample.type, sample.start)
///       case .deleted(let tombstone): print("-", tombstone.sample.type, tombstone.sample.start)
///       }
///     }
///     if page.isLast { break }
///     page = try await store.feed.changes(since: page.anchor, epoch: page.epoch, limit: 1000)
///   }
/// }
/// ```
///
/// To save a position, save both ``ChangePage/anchor`` and ``ChangePage/epoch``, and pass both back.
///
/// The store knows nothing of the network, and never deletes its file to recover.
public final class HealthStore: Sendable {
  /// The maximum time that a write waits for another process, in seconds.
  public static let busyTimeout = 30.0

  /// A random UUID that identifies this store. It is created with the store, and copies keep it.
  public let id: UUID
  /// A secret of 32 random bytes, created once, for position tokens that clients can neither read nor forge.
  public let positionKey: Data
  /// The path of `store.sqlite`, with the symbolic links of its directory resolved.
  public let path: String
  /// The directory of ``path``, which also holds the files kept beside the store.
  public let directory: String
  let pool: DatabasePool
  let epochs: EpochKeeper
  let watch: StoreWatch
  let patience: LockBusyHandler
  /// A shared lock that prevents the replacement of the open store, or `nil` if the store is read-only.
  private let presence: FileLock?
  /// The inode of ``path`` when it was opened.
  private let inode: UInt64?
  /// A function that returns the space on the disk of a path, or `nil` if the disk is not checked.
  let space: (@Sendable (String) -> DiskSpace?)?
  /// Reserved space for audit events on a full disk, or `nil` if the disk is not checked.
  let reserve: DiskSpaceReserve?
  private let clock: @Sendable () -> Timestamp

  /// Opens the store in `directory`, and creates both if `create` is true.
  ///
  /// - Parameters:
  ///   - busyTimeout: the time limit for waiting for another process, in seconds; see ``busyTimeout``.
  ///   - whileLocked: called once if a write has waited for another process for more than a second, with that
  ///     process's name if it is known. Called on the thread that writes.
  ///   - space: returns the space on the disk of a path, such as `DiskSpace.init(path:)`. Changes are then refused if
  ///     too little is free (``requireRoom()``).
  ///   - clock: returns the time of this machine's clock, by which statements and deletions are dated.
  public init(
    directory: String, create: Bool = true, busyTimeout: Double = HealthStore.busyTimeout,
    whileLocked: (@Sendable (_ holder: String?) -> Void)? = nil,
    space: (@Sendable (String) -> DiskSpace?)? = nil,
    clock: @escaping @Sendable () -> Timestamp = { .now }
  ) throws(StoreError) {
    self.space = space
    self.clock = clock
    let directory = HomeDirectory.resolved(directory)
    reserve = space == nil ? nil : DiskSpaceReserve(directory: directory)
    let path = Self.path(in: directory)
    let patience = LockBusyHandler(limit: busyTimeout) { whileLocked?(LockHolder.name(ofWriterTo: path)) }
    self.path = path
    self.patience = patience
    self.directory = directory
    do {
      try SQLiteFile(path).requireNoLinks()
      if create {
        try PrivateFile.makeDirectory(directory)
      } else if SQLiteFile(path).isEmpty, !SQLiteFile(path).hasLog {
        throw StoreError.missing(path: path)
      } else {
        try HomeDirectory.requirePrivate(directory)
      }
      presence = try ReplacementLock.open(directory)
      // Two processes that run for the first time must not both create the tables.
      pool = try FileLock.withLock(directory + "/store.lock") {
        try Self.requireFileOfLog(path)
        try Self.createFile(path)
        let open = SQLiteFile(path).openToOthers
        guard open.isEmpty else { throw StoreError.openToOthers(paths: open) }
        try Schema.requireKnown(path: path)
        let pool = try DatabasePool(path: path, configuration: Self.configuration(.callback(patience.wait)))
        // A change number that a peer has received must not be assigned again after a power failure, and NORMAL can
        // lose the latest commits in WAL mode. Not in the configuration, because the pool sets NORMAL after that.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try Schema.migrate(pool)
        return pool
      }
      inode = FileStatus(path)?.inode
      if create, let space = space?(directory) { reserve?.fill(from: space.freeBytes) }
      watch = StoreWatch(pool, log: SQLiteFile(path).log)
      (id, positionKey, epochs) = try pool.read { db in
        (try Schema.storeID(db), try Schema.positionKey(db), try EpochKeeper(db))
      }
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Opens the store in `directory` read-only, for a read-only disk or another user's store. Nothing is locked,
  /// created or migrated, and every write throws ``StoreError/notPermitted(path:)``.
  public init(readOnlyIn directory: String) throws(StoreError) {
    let directory = HomeDirectory.resolved(directory)
    let path = Self.path(in: directory)
    self.path = path
    self.directory = directory
    patience = LockBusyHandler(limit: Self.busyTimeout) {}
    (space, reserve, presence, inode) = (nil, nil, nil, nil)
    clock = { .now }
    do {
      try SQLiteFile(path).requireNoLinks()
      if SQLiteFile(path).isEmpty, !SQLiteFile(path).hasLog { throw StoreError.missing(path: path) }
      guard access(path, R_OK) == 0 else { throw StoreError.notPermitted(path: path) }
      try Self.requireFileOfLog(path)
      var reading = Configuration()
      let source = SQLiteFile(path).forReading(&reading)
      pool = try DatabasePool(
        path: source, configuration: Self.configuration(.timeout(Self.busyTimeout), from: reading))
      try pool.read { db in
        try Schema.requireKnown(db, path: path)
        guard try Schema.isCurrent(db) else {
          throw StoreError.other(
            path: path, detail: "an older hpeer wrote it, and it has to be brought up to date where it can be written")
        }
      }
      watch = StoreWatch(pool, log: SQLiteFile(path).log)
      (id, positionKey, epochs) = try pool.read { db in
        (try Schema.storeID(db), try Schema.positionKey(db), try EpochKeeper(db))
      }
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Returns whether a store in `directory` can be opened for writing. True if there is no store: creating it reports
  /// why it fails.
  public static func isWritable(in directory: String) -> Bool {
    let file = SQLiteFile(path(in: directory))
    return file.isEmpty || file.isWritable
  }

  /// The time of this machine's clock.
  var now: Timestamp { clock() }

  /// Whether the store was opened by ``init(readOnlyIn:)``.
  public var isReadOnly: Bool { pool.configuration.readonly }

  /// Throws ``StoreError/gone(path:)`` if the file was deleted, moved away or replaced since it was opened. Data
  /// written to this store would then be lost.
  public func requireInPlace() throws(StoreError) {
    guard let inode else { return }
    // A process that may no longer look at the path still writes to the right file.
    guard let found = FileStatus(path)?.inode else {
      if PrivateFile.isMissing(path) { throw StoreError.gone(path: path) }
      return
    }
    if found != inode { throw StoreError.gone(path: path) }
  }

  private static func path(in directory: String) -> String { directory + "/store.sqlite" }

  /// Throws ``StoreError/corrupt(path:detail:)`` if the database is empty or missing but its write-ahead log is not.
  /// SQLite would discard that log, which may hold all that is left.
  static func requireFileOfLog(_ path: String) throws {
    guard SQLiteFile(path).isEmpty, SQLiteFile(path).hasLog else { return }
    throw StoreError.corrupt(path: path, detail: "it is empty or gone, but its write-ahead log is not")
  }

  /// Creates an empty file of mode 0600 if there is none. SQLite gives its write-ahead log the mode of the database.
  ///
  /// An existing file is not opened, because closing it would release the locks that SQLite holds on it in this
  /// process. For the same reason, call this only under the lock.
  static func createFile(_ path: String) throws {
    guard PrivateFile.exists(path) else { return try PrivateFile.create(path, []) }
    guard access(path, R_OK | W_OK) == 0 else { throw StoreError.notPermitted(path: path) }
  }

  private static func configuration(
    _ busyMode: Database.BusyMode, from base: Configuration = Configuration()
  ) -> Configuration {
    var configuration = base
    configuration.busyMode = busyMode
    configuration.label = "hpeer.store"
    configuration.maximumReaderCount = 8
    // Dictionary rows are deleted only after all rows that refer to them, and checking five references would be most
    // of the cost of an insert.
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { db in
      // The file's own schema must not call functions with effects outside of it:
      // https://www.sqlite.org/security.html
      try db.execute(sql: "PRAGMA trusted_schema = OFF")
      // Each connection keeps its cache while it is open, and a server has eight that read.
      try db.execute(sql: "PRAGMA cache_size = \(db.configuration.readonly ? -2048 : -16384)")
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
      try requireInPlace()
      return value
    } catch {
      throw StoreError(error, path: path, isCancelled: Task.isCancelled)
    }
  }

  /// Runs `body` in one write transaction and waits for the result. Blocking: call it on a thread of its own.
  ///
  /// - Parameter isCancelled: ends a wait for another process's lock. It does not end `body`.
  func writeBlocking<T>(
    _ isCancelled: @escaping @Sendable () -> Bool = { false }, _ body: (Database) throws -> T
  ) throws(StoreError) -> T {
    defer { watch.committed() }
    do {
      return try pool.writeWithoutTransaction { db in
        try patience.unless(isCancelled) {
          // The transaction sets the result or throws.
          var result: Result<T, any Error> = .failure(StoreError.cancelled)
          try db.inTransaction(.immediate) {
            result = .success(try body(db))
            return .commit
          }
          try requireInPlace()
          return try result.get()
        }
      }
    } catch {
      throw StoreError(error, path: path, isCancelled: isCancelled())
    }
  }
}
