import Foundation
import GRDB
import HealthModel
import OperatingSystem
import SQLiteFiles

/// Facts about a store for a bug report. They reveal none of its content.
public struct StoreShape: Hashable, Sendable, Codable {
  /// An event of the audit log without its details.
  public struct Event: Hashable, Sendable, Codable {
    /// The time in UTC, in ISO 8601. Empty if it cannot be read.
    public var time: String
    /// The event's name, such as `server.started`, or `other` for an event that this version does not know.
    public var name: String
  }

  /// The migrations that were applied to the tables, in order.
  public var schema: [String]
  /// The number of rows of each table.
  public var rows: [String: Int]
  /// The number of types that have samples.
  public var types: Int
  public var pageBytes: Int
  public var pages: Int
  public var freePages: Int
  public var sqliteVersion: String
  /// The latest 200 events, newest last.
  public var events: [Event]
}

extension HealthStore {
  /// Returns the shape of a store without opening it for use, as ``inspect(directory:)`` does. Counts all rows, which
  /// takes about a second per million. Blocking. Throws ``StoreError``, `missing` if there is no store.
  public static func shape(directory: String) throws(StoreError) -> StoreShape {
    let path = HomeDirectory.resolved(directory) + "/store.sqlite"
    do {
      try SQLiteFile(path).requireNoLinks()
      guard !SQLiteFile(path).isEmpty else { throw StoreError.missing(path: path) }
      guard access(path, R_OK) == 0 else { throw StoreError.notPermitted(path: path) }
      var configuration = Configuration()
      configuration.busyMode = .timeout(5)
      let source = SQLiteFile(path).forReading(&configuration)
      let queue = try DatabaseQueue(path: source, configuration: configuration)
      defer { try? queue.close() }
      return try queue.read(shape)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  private static func shape(_ db: Database) throws -> StoreShape {
    func number(_ pragma: String) throws -> Int { try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0 }
    var rows: [String: Int] = [:]
    let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
    // The store's own tables have such names. A table of another program may have any name.
    for table in tables where table.wholeMatch(of: /[a-zA-Z_]{1,32}/) != nil && !table.hasPrefix("sqlite_") {
      rows[table] = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(table.quotedDatabaseIdentifier)")
    }
    let events =
      try rows["audit"] == nil
      ? [] : Row.fetchAll(db, sql: "SELECT time, event FROM audit ORDER BY id DESC LIMIT 200")
    return StoreShape(
      schema: try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid"), rows: rows,
      types: rows["type"] == nil ? 0 : try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM type WHERE samples > 0") ?? 0,
      pageBytes: try number("page_size"), pages: try number("page_count"), freePages: try number("freelist_count"),
      sqliteVersion: try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "",
      events: events.reversed().map { row in
        // A damaged page may hold any value.
        StoreShape.Event(
          time: Int64.fromDatabaseValue(row["time"]).map { Timestamp(microseconds: $0).iso8601 } ?? "",
          name: String.fromDatabaseValue(row["event"]).flatMap { AuditEvent.Name(rawValue: $0)?.rawValue } ?? "other")
      })
  }
}

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif
