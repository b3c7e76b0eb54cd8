import Foundation
import GRDB
import HealthModel
import OperatingSystem
import SQLiteFiles

/// What a short look at a store shows.
public struct StoreInspection: Hashable, Sendable {
  /// False if an older hpeer wrote it: the next command that opens it brings it up to date.
  public var isCurrent: Bool
  /// Of all types; 0 where ``isCurrent`` is false.
  public var samples: Int
  /// When the last event of the audit log happened.
  public var newestEvent: Timestamp?
}

extension HealthStore {
  /// Looks at a store without opening it for use. Never creates, migrates, locks or writes it. Blocking: for a thread of
  /// one's own. Throws ``StoreError``, `missing` where there is none.
  public static func inspect(directory: String) throws(StoreError) -> StoreInspection {
    try look(into: directory, inspect)
  }

  /// The types that samples of a store are of, or were, looked at in the same way.
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
  /// Makes a copy of this store as it is now in another directory, which is made and must not be there: to try out there what a write would do.
  ///
  /// The copy is the same store under the same name. It must not be served, and not outlive its purpose. Blocking.
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
