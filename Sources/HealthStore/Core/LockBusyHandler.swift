import Glibc
import OperatingSystem
import Synchronization

/// A busy handler that waits for another process's write lock as SQLite's own busy timeout does. It reports a long
/// wait, because half a minute of silence looks like a program that hangs. It also ends when the waiting task is
/// cancelled, which `sqlite3_interrupt` does not do for a lock.
final class LockBusyHandler: Sendable {
  private struct State {
    var limit: Double
    var hasTold = false
    /// A function that returns whether a write on a thread of its own was cancelled. Other writes are cancelled with
    /// their task.
    var isCancelled: @Sendable () -> Bool = { false }
  }

  /// The pauses before each try in milliseconds, as in `sqlite3_busy_timeout`. The last pause repeats.
  private static let pauses = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]
  /// The waiting time in milliseconds after which `tell` is called.
  private static let silence = 1000

  private let state: Mutex<State>
  private let tell: @Sendable () -> Void

  /// Creates a busy handler with a time limit in seconds.
  init(limit: Double, tell: @escaping @Sendable () -> Void) {
    state = Mutex(State(limit: limit))
    self.tell = tell
  }

  /// Waits after a failed try, and returns false to give up. `tries` counts from 0. Time is the sum of the pauses,
  /// not of the clock.
  func wait(_ tries: Int) -> Bool {
    let pause = Self.pauses[min(tries, Self.pauses.count - 1)]
    let waited = Self.waited(before: tries)
    let (mayWait, isLong, isCancelled) = state.withLock { state in
      guard Double(waited + pause) <= state.limit * 1000 else { return (false, false, state.isCancelled) }
      let isLong = waited >= Self.silence && !state.hasTold
      if isLong { state.hasTold = true }
      return (true, isLong, state.isCancelled)
    }
    guard mayWait, !Task.isCancelled, !isCancelled() else { return false }
    if isLong { tell() }
    usleep(UInt32(pause) * 1000)
    return true
  }

  /// The maximum waiting time in seconds.
  var limit: Double { state.withLock(\.limit) }

  /// Runs `body` with another time limit, in seconds. Use it on the writing connection only.
  func limited<Value>(to limit: Double, _ body: () throws -> Value) rethrows -> Value {
    let before = state.withLock { state in
      defer { state.limit = limit }
      return state.limit
    }
    defer { state.withLock { $0.limit = before } }
    return try body()
  }

  /// Runs `body`, and ends waits as soon as `isCancelled` returns true. Use it on the writing connection only.
  func unless<Value>(_ isCancelled: @escaping @Sendable () -> Bool, _ body: () throws -> Value) rethrows -> Value {
    state.withLock { $0.isCancelled = isCancelled }
    defer { state.withLock { $0.isCancelled = { false } } }
    return try body()
  }

  private static func waited(before tries: Int) -> Int {
    pauses.prefix(tries).reduce(0, +) + max(0, tries - pauses.count) * 100
  }
}

/// The holder of a lock, according to the locks that the kernel shows to every process.
enum LockHolder {
  /// The byte of the shared-memory index that a writer locks: https://www.sqlite.org/walformat.html section 2.3.2.
  private static let writeLock = "120"

  /// Returns the name of the process that writes the database, such as `hpeer import (process 4711)`, or `nil` if the
  /// process is not visible here.
  static func name(ofWriterTo path: String) -> String? {
    guard let index = FileStatus(path + "-shm") else { return nil }
    let lock = KernelLock.all().first {
      $0.kind == "POSIX" && $0.isExclusive && $0.start == writeLock && $0.inode == index.inode && $0.process > 0
    }
    return lock.map { ProcessName.of($0.process) }
  }
}
