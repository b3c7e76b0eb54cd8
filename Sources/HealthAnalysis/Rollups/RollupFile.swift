import Foundation
import GRDB
import OperatingSystem
import SQLiteFiles

/// The file beside a store that contains its rollups.
///
/// The file is a cache: everything in it is derived from the store. A damaged file is replaced, and it may be deleted
/// at any time.
///
/// Each day in UTC of each type is a block: `hours` and `quarters` contain its cells (``RollupBlock``), and `block`
/// the state at which it was computed. `evidence` and `measured` contain the data for ranking sources, and `dirty`
/// the days that have changed in the store since.
final class RollupFile: Sendable {
  /// The version of the format. It must be incremented if the bytes of cells or their meaning change, so that
  /// existing files are computed anew.
  private static let version = 2
  /// The time in seconds for which a process waits for another's work.
  private static let patience = 10.0

  let path: String
  let queue: DatabaseQueue

  /// Opens or creates the file.
  ///
  /// - Parameter directory: the store's directory.
  convenience init(in directory: String) throws {
    try self.init(path: directory + "/statistics.sqlite")
  }

  private init(path: String) throws {
    self.path = path
    try SQLiteFile(path).requireNoLinks()
    if !PrivateFile.exists(path) { try PrivateFile.create(path, []) }
    var configuration = Configuration()
    configuration.busyMode = .timeout(Self.patience)
    configuration.label = "hpeer.statistics"
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA page_size = 8192")
      try db.execute(sql: "PRAGMA journal_mode = WAL")
      // Data lost in a power failure is computed again.
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
      try db.execute(sql: "PRAGMA cache_size = -8192")
      // Values of deleted samples must not remain in free pages.
      try db.execute(sql: "PRAGMA secure_delete = ON")
      try db.execute(sql: "PRAGMA journal_size_limit = 16777216")
    }
    queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.inDatabase { db in
      let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
      if found == Self.version { return }
      // Another process may create the schema at the same time.
      try db.inTransaction(.immediate) {
        let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        guard found == 0 || found == Self.version else { throw RollupDamage() }
        if found == 0 { try db.execute(sql: Self.schema + "PRAGMA user_version = \(Self.version)") }
        return .commit
      }
    }
  }

  static func exists(in directory: String) -> Bool { PrivateFile.exists(directory + "/statistics.sqlite") }

  /// Removes the file.
  static func discard(in directory: String) {
    let name = "statistics.sqlite"
    PrivateFile.discard(directory, SQLiteFile.names(of: name))
  }

  /// The database schema. Dates are microseconds since 1970. `history.json` is a ``FeedHistory``.
  ///
  /// In `type`, `rule` is the rule by which cells were computed, or NULL if there are none; `longest` is the length
  /// of the longest sample in microseconds; `isLong` is whether a sample is too long for cells; `ranking` is a
  /// ``KeptRanking``, computed at the evidence number `ranked`.
  ///
  /// In `block`, `position` is the last change included, `isMixed` is whether more than one source has data, and
  /// `withoutNumber` and `withoutUnit` count samples that were left out.
  private static let schema = """
    CREATE TABLE history(json TEXT NOT NULL, evidence INTEGER NOT NULL) STRICT;
    CREATE TABLE type(
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      rule TEXT,
      longest INTEGER NOT NULL DEFAULT 0,
      isLong INTEGER NOT NULL DEFAULT 0,
      ranking TEXT,
      ranked INTEGER NOT NULL DEFAULT -1
    ) STRICT;
    CREATE TABLE dirty(
      type INTEGER NOT NULL,
      first INTEGER NOT NULL,
      last INTEGER NOT NULL,
      PRIMARY KEY(type, first)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE block(
      key INTEGER PRIMARY KEY,
      position INTEGER NOT NULL,
      isMixed INTEGER NOT NULL,
      withoutNumber INTEGER NOT NULL,
      withoutUnit INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE hours(key INTEGER PRIMARY KEY, cells BLOB NOT NULL) STRICT;
    CREATE TABLE quarters(key INTEGER PRIMARY KEY, cells BLOB NOT NULL) STRICT;
    CREATE TABLE evidence(
      type INTEGER NOT NULL,
      day INTEGER NOT NULL,
      source INTEGER NOT NULL,
      device INTEGER NOT NULL,
      isUserEntered INTEGER NOT NULL,
      samples INTEGER NOT NULL,
      first INTEGER NOT NULL,
      last INTEGER NOT NULL,
      PRIMARY KEY(type, day, source, device, isUserEntered)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE measured(
      source INTEGER NOT NULL,
      device INTEGER NOT NULL,
      samples INTEGER NOT NULL,
      PRIMARY KEY(source, device)
    ) STRICT, WITHOUT ROWID;

    """
}

/// The keys of blocks. The blocks of a type are consecutive in the file, in order of time.
enum BlockKey {
  private static let bits: Int64 = 28
  private static let zero: Int64 = 1 << 27

  /// Returns the key of a block.
  ///
  /// - Parameters:
  ///   - type: the type's row id in the file.
  ///   - day: the day in UTC since 1970-01-01, in the range of a timestamp in microseconds.
  static func key(type: Int64, day: Int64) -> Int64 { type << bits | (day + zero) }

  static func keys(type: Int64, days: ClosedRange<Int64>) -> ClosedRange<Int64> {
    key(type: type, day: days.lowerBound)...key(type: type, day: days.upperBound)
  }

  static func day(_ key: Int64) -> Int64 { (key & (1 << bits - 1)) - zero }

  /// The SQL expression for the day of a column `key`.
  static let dayOfKey = "((key & \(1 << bits - 1)) - \(zero))"
  static let typeOfKey = "(key >> \(bits))"
}
