import Foundation
import GRDB
import OperatingSystem

/// A SQLite database in WAL mode that is looked at and not written: perhaps it cannot be, because it is on a mounted
/// backup.
///
/// SQLite itself wants to lock such a file and to make two more beside it.
public struct SQLiteFile: Sendable {
  /// Of the database; the other files have its name and an ending.
  public let path: String

  /// Looks at nothing yet: the file need not exist.
  public init(_ path: String) {
    self.path = path
  }

  /// The database and what SQLite puts beside it. SQLite itself follows a symbolic link in the place of the database, and
  /// refuses the others without saying why.
  public static func names(of path: String) -> [String] { ["", "-wal", "-shm", "-journal"].map { path + $0 } }

  /// Throws `SystemError` where one of ``names(of:)`` is a symbolic link.
  public func requireNoLinks() throws { try PrivateFile.requireNoLinks(Self.names(of: path)) }

  /// Those of ``names(of:)`` that others than their owner may read or write. SQLite makes them with the mode of the
  /// database.
  public var openToOthers: [String] {
    Self.names(of: path).filter { (PrivateFile.mode($0) ?? 0) & 0o077 != 0 }
  }

  /// Whether there is nothing at `path`, or a file of no bytes.
  public static func isEmpty(_ path: String) -> Bool {
    size(path) == 0
  }

  /// Of the index of a log that is in use, in bytes: https://www.sqlite.org/walformat.html section 2.3.
  private static let leastIndex = 32_768

  /// In bytes; 0 where there is no file.
  private static func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Whether there is nothing at ``path``, or a file of no bytes.
  public var isEmpty: Bool { Self.isEmpty(path) }
  /// The path of the write-ahead log, which every process writes that changes anything.
  public var log: String { path + "-wal" }
  /// What was committed last may be in it, and nowhere else.
  public var hasLog: Bool { !Self.isEmpty(log) }

  /// Whether it can be written, and what SQLite puts beside it.
  public var isWritable: Bool {
    access(path, W_OK) == 0 && access((path as NSString).deletingLastPathComponent, W_OK | X_OK) == 0
  }

  /// Reads what was committed, the log included, and makes nothing.
  ///
  /// - Parameter configuration: is made to fit. What else prepares a connection comes after this: it may read the file.
  /// - Returns: what to open with it.
  public func forReading(_ configuration: inout Configuration) -> String {
    configuration.readonly = true
    // Whoever has it open keeps an index of the log, which can be shared. A shorter one is what a full disk has left of an attempt.
    if Self.size(path + "-shm") >= Self.leastIndex, access(log, F_OK) == 0 { return path }
    // Nobody has it open: it does not change.
    if !hasLog { return immutableURI }
    // A log that was left behind. SQLite indexes it in memory where it may take the file for its own alone.
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
    return uri("vfs=unix-none")
  }

  /// https://www.sqlite.org/uri.html: no locks, no log, no change detection.
  public var immutableURI: String { uri("immutable=1") }

  private func uri(_ query: String) -> String {
    "file:\(path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path)?\(query)"
  }
}
