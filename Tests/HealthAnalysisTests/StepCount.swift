import Foundation
import GRDBSQLite
import Synchronization

/// A counter of the virtual machine steps of SQLite on connections to the databases in a folder.
///
/// The same work takes the same number of steps, independent of the machine and its load.
final class StepCount: Sendable {
  private static let counts = Mutex<[String: StepCount]>([:])
  /// Whether SQLite calls the counter. Registered once for all connections of this process.
  private static let isWatching: Bool = {
    // SQLite declares it without the parameters that it calls it with.
    typealias Entry = @convention(c) () -> Void
    typealias Watch = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Int32
    let watch: Watch = { connection, _, _ in
      guard let connection, let name = sqlite3_db_filename(connection, "main") else { return SQLITE_OK }
      StepCount.watch(connection, String(cString: name))
      return SQLITE_OK
    }
    return sqlite3_auto_extension(unsafeBitCast(watch, to: Entry.self)) == SQLITE_OK
  }()

  private let steps = Mutex(0)

  /// - Parameter directory: A folder whose databases are not open yet. It is watched until the process ends.
  init(in directory: String) {
    precondition(Self.isWatching)
    let folder = URL(filePath: directory).resolvingSymlinksInPath().path
    Self.counts.withLock { $0[folder] = self }
  }

  private static func watch(_ connection: OpaquePointer, _ path: String) {
    let folder = URL(filePath: path).deletingLastPathComponent().resolvingSymlinksInPath().path
    // Kept by the table, which nothing is taken out of.
    guard let count = counts.withLock({ $0[folder] }) else { return }
    sqlite3_progress_handler(
      connection, 1,
      { context in
        context.map { Unmanaged<StepCount>.fromOpaque($0).takeUnretainedValue().steps.withLock { $0 += 1 } }
        return 0
      }, Unmanaged.passUnretained(count).toOpaque())
  }

  /// Returns the number of steps that `work` takes.
  func count(_ work: () async throws -> Void) async rethrows -> Int {
    let before = steps.withLock(\.self)
    try await work()
    return steps.withLock(\.self) - before
  }
}
