import Foundation
import GRDB
import HealthModel
import OperatingSystem
import SQLiteFiles

extension HealthStore {
  /// The thoroughness of an integrity check.
  public enum CheckDepth: Hashable, Sendable {
    /// A check that every page and everything that opening the store needs can be read. Finds any damage that would
    /// stop a write.
    case pages
    /// The check of ``pages``, and of the agreement of indexes with tables and of hpeer's own rules for its tables.
    case everything
  }

  /// Checks a store without opening it for use: SQLite's own `quick_check` or `integrity_check`, then hpeer's own
  /// rules for its tables.
  ///
  /// Reads everything once, so the time grows with the size of the store. Never creates, migrates or writes the
  /// store; a server or an import may run meanwhile. Throws ``StoreError`` if there is no store that can be checked:
  /// no file, another program's database, a newer version's store, or a file that may not be read.
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
      // A process that uses the store has a log beside it. Without one, SQLite would create the log and not remove it
      // again.
      let isAtRest = SQLiteFile.isEmpty(path + "-wal")
      let integrity = try await check(path, depth, isAtRest: isAtRest)
      if !isAtRest || integrity.isSound || SQLiteFile.isEmpty(path + "-wal") { return integrity }
      // A process began to write while the file was assumed not to change.
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
      // After some kinds of damage even the end of a read transaction fails. This finding then replaces all others.
      return StoreIntegrity(findings: [.damagedPages(error.message ?? "a page cannot be read")])
    }
  }
}
