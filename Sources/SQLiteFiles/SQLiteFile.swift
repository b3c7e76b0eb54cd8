import Foundation
import GRDB

/// A SQLite database in WAL mode that is looked at and not written: perhaps it cannot be, because it is on a mounted
/// backup.
///
/// SQLite itself wants to lock such a file and to make two more beside it.
public struct SQLiteFile: Sendable {
  public let path: String

  public init(_ path: String) {
    self.path = path
  }

  /// Whether there is nothing at `path`, or a file of no bytes.
  public static func isEmpty(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) != 0 || status.st_size == 0
  }

  public var isEmpty: Bool { Self.isEmpty(path) }
  /// What was committed last may be in it, and nowhere else.
  public var hasLog: Bool { !Self.isEmpty(path + "-wal") }

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
    // Whoever has it open keeps an index of the log, which can be shared.
    if !Self.isEmpty(path + "-shm"), access(path + "-wal", F_OK) == 0 { return path }
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
