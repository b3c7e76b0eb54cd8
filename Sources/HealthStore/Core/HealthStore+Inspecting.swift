import Foundation
import GRDB
import HealthModel
import OperatingSystem
import SQLiteFiles

/// A short summary of a store that was not opened for use.
public struct StoreInspection: Hashable, Sendable {
  /// Whether the tables are up to date. If not, an older hpeer wrote them, and the next command that opens the store
  /// migrates them.
  public var isCurrent: Bool
  /// The number of samples of all types, or 0 if ``isCurrent`` is false.
  public var samples: Int
  /// The time of the newest audit event.
  public var newestEvent: Timestamp?
}

extension HealthStore {
  /// Inspects a store without opening it for use. Never creates, migrates, locks or writes it. Blocking: call it on a
  /// thread of its own. Throws ``StoreError``, `missing` if there is no store.
  public static func inspect(directory: String) throws(StoreError) -> StoreInspection {
    try look(into: directory, inspect)
  }

  /// Returns the sample types that the store has, or once had, samples of. Reads the store as ``inspect(directory:)``
  /// does.
  public static func types(directory: String) throws(StoreError) -> [SampleType] {
    try look(into: directory) { db, _ in
      try String.fetchAll(db, sql: "SELECT identifier FROM type ORDER BY identifier").map { SampleType($0) }
    }
  }

  private static func look<Seen>(
    into directory: String, _ body: (Database, _ path: String) throws -> Seen
  ) throws(StoreError) -> Seen {
    let path = HomeDirectory.resolved(directory) + "/store.sqlite"
    do {
      try SQLiteFile(path).requireNoLinks()
      guard !SQLiteFile(path).isEmpty else {
        try requireFileOfLog(path)
        throw StoreError.missing(path: path)
      }
      guard access(path, R_OK) == 0 else { throw StoreError.notPermitted(path: path) }
      var configuration = Configuration()
      configuration.busyMode = .timeout(5)
      let source = SQLiteFile(path).forReading(&configuration)
      let queue = try DatabaseQueue(path: source, configuration: configuration)
      defer { try? queue.close() }
      return try queue.read { db in try body(db, path) }
    } catch {
      throw StoreError(error, path: path)
    }
  }

  private static func inspect(_ db: Database, path: String) throws -> StoreInspection {
    try Schema.requireKnown(db, path: path)
    guard try Schema.isCurrent(db) else { return StoreInspection(isCurrent: false, samples: 0) }
    let newest = try Int64.fetchOne(db, sql: "SELECT time FROM audit ORDER BY id DESC LIMIT 1")
    return StoreInspection(
      isCurrent: true, samples: try Int.fetchOne(db, sql: "SELECT TOTAL(samples) FROM type") ?? 0,
      newestEvent: newest.map(Timestamp.init(microseconds:)))
  }
}

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension HealthStore {
  /// Copies the current state of this store into a new directory, to try out what a write would do. The directory is
  /// created and must not exist.
  ///
  /// The copy has the same store identifier. Do not serve it, and delete it when the trial has ended. Blocking.
  public func copyBlocking(to directory: String) throws(StoreError) {
    let target = directory + "/store.sqlite"
    do {
      guard mkdir(directory, 0o700) == 0 else { throw SystemError("mkdir", directory) }
      try PrivateFile.create(target, [])
      let queue = try DatabaseQueue(path: target)
      defer { try? queue.close() }
      try pool.backup(to: queue)
    } catch {
      throw StoreError(error, path: target)
    }
  }
}
