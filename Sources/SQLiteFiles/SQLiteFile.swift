import Foundation
import GRDB
import OperatingSystem

/// An SQLite database in WAL mode that is read without writing to it, for example on a mounted backup that is
/// read-only.
///
/// SQLite by itself would lock such a file and create two more files beside it.
public struct SQLiteFile: Sendable {
  /// The path of the database. The names of the other files are this path and a suffix.
  public let path: String

  /// Creates a reference to the database at `path`, without opening it. The file need not exist.
  public init(_ path: String) {
    self.path = path
  }

  /// Returns the paths of the database and of the files that SQLite keeps beside it. SQLite follows a symbolic link
  /// at the path of the database, and refuses one at the other paths without saying why.
  public static func names(of path: String) -> [String] { ["", "-wal", "-shm", "-journal"].map { path + $0 } }

  /// Throws `SystemError` if one of ``names(of:)`` is a symbolic link.
  public func requireNoLinks() throws { try PrivateFile.requireNoLinks(Self.names(of: path)) }

  /// The paths from ``names(of:)`` that users other than the owner may read or write. SQLite creates the files beside
  /// the database with the database's mode.
  public var openToOthers: [String] {
    Self.names(of: path).filter { (PrivateFile.mode($0) ?? 0) & 0o077 != 0 }
  }

  /// Returns whether the file at `path` is missing or has no bytes.
  public static func isEmpty(_ path: String) -> Bool {
    size(path) == 0
  }

  /// The size of the shared-memory index of a write-ahead log that is in use, in bytes:
  /// https://www.sqlite.org/walformat.html section 2.3.
  private static let leastIndex = 32_768

  /// Returns the size of the file in bytes, or 0 if there is none.
  private static func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Whether the file at ``path`` is missing or has no bytes.
  public var isEmpty: Bool { Self.isEmpty(path) }
  /// The path of the write-ahead log, to which every process that changes the database writes.
  public var log: String { path + "-wal" }
  /// Whether the write-ahead log has content. It may hold recent commits that are not in the database file yet.
  public var hasLog: Bool { !Self.isEmpty(log) }

  /// Whether this process may write the database, and create files in its directory.
  public var isWritable: Bool {
    access(path, W_OK) == 0 && access((path as NSString).deletingLastPathComponent, W_OK | X_OK) == 0
  }

  /// Prepares a connection that reads all committed data, including the write-ahead log, and creates no files.
  ///
  /// - Parameter configuration: adjusted for such a connection. Add other `prepareDatabase` functions after this
  ///   call, because they may read the file.
  /// - Returns: the path or URI to open with the configuration.
  public func forReading(_ configuration: inout Configuration) -> String {
    configuration.readonly = true
    // A process that has the database open keeps an index of the log, which can be shared. A shorter index is left
    // when creating it failed on a full disk.
    if Self.size(path + "-shm") >= Self.leastIndex, access(log, F_OK) == 0 { return path }
    // No process has the database open, so it does not change.
    if !hasLog { return immutableURI }
    // A log was left behind. SQLite indexes it in memory if it may use the file exclusively.
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
    return uri("vfs=unix-none")
  }

  /// A URI that opens the database without locks, without its log and without change detection:
  /// https://www.sqlite.org/uri.html.
  public var immutableURI: String { uri("immutable=1") }

  private func uri(_ query: String) -> String {
    "file:\(path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path)?\(query)"
  }
}
