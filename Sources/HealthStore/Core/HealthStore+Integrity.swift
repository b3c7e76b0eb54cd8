import Foundation
import GRDB
import HealthModel
import OperatingSystem
import SQLiteFiles

extension HealthStore {
  /// How thorough an integrity check is.
  public enum CheckDepth: Hashable, Sendable {
    /// What opening it reads, and that every page can be read: whatever a write would stumble over.
    case pages
    /// Also that indexes have what tables have, and what hpeer promises of its tables.
    case everything
  }

  /// Checks a store without opening it for use: SQLite's own `quick_check` or `integrity_check`, then what hpeer promises
  /// of its tables.
  ///
  /// Reads everything once, so it takes as long as the store is large. Never creates, migrates or writes the store; a
  /// server or an import may be at work meanwhile. Throws ``StoreError`` where there is no store that could be checked:
  /// none at all, another program's database, a newer version's, one that may not be read.
  public static func checkIntegrity(
    directory: String, depth: CheckDepth = .everything
  ) async throws(StoreError) -> StoreIntegrity {
    let path = HomeDirectory.resolved(directory) + "/store.sqlite"
    do {
      try SQLiteFile(path).requireNoLinks()
      guard !SQLiteFile.isEmpty(path) else {
        try requireFileOfLog(path)
        throw StoreError.missing(path: path)
      }
      guard access(path, R_OK) == 0 else { throw StoreError.notPermitted(path: path) }
      // Whoever uses the store has a log beside it. Without one, SQLite would make it, and nothing takes it away again.
      let isAtRest = SQLiteFile.isEmpty(path + "-wal")
      let integrity = try await check(path, depth, isAtRest: isAtRest)
      if !isAtRest || integrity.isSound || SQLiteFile.isEmpty(path + "-wal") { return integrity }
      // Somebody began to write while the file was taken for one that does not change.
      return try await check(path, depth, isAtRest: false)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  private static func check(_ path: String, _ depth: CheckDepth, isAtRest: Bool) async throws -> StoreIntegrity {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(busyTimeout)
    let queue = try DatabaseQueue(path: isAtRest ? SQLiteFile(path).immutableURI : path, configuration: configuration)
    defer { try? queue.close() }
    do {
      return try await queue.read { db in
        try Schema.requireKnown(db, path: path)
        guard try db.tableExists("store") else {
          throw StoreError.corrupt(path: path, detail: "it has no tables")
        }
        var check = IntegrityCheck(db)
        try check.run(depth)
        return StoreIntegrity(findings: check.findings)
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
      // After some damage SQLite fails even the end of a read transaction, and this stands for all that was found.
      return StoreIntegrity(findings: [.damagedPages(error.message ?? "a page cannot be read")])
    }
  }
}
