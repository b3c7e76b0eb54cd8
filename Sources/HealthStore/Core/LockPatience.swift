import Glibc
import OperatingSystem
import Synchronization

/// Waits for another process that holds the write lock, as SQLite's own busy timeout does, and says so once it takes
/// long: half a minute of silence looks like a program that hangs. Unlike SQLite's, it ends when whoever waits is
/// cancelled: `sqlite3_interrupt` does not end a wait for the lock.
final class LockPatience: Sendable {
  private struct State {
    var limit: Double
    var hasTold = false
    /// Of a write on a thread of its own; others are of a task.
    var isCancelled: @Sendable () -> Bool = { false }
  }

  /// Milliseconds before each try, the last for all that follow: those of `sqlite3_busy_timeout`.
  private static let pauses = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]
  /// Milliseconds of waiting after which `tell` is called.
  private static let silence = 1000

  private let state: Mutex<State>
  private let tell: @Sendable () -> Void

  /// - Parameter limit: in seconds.
  init(limit: Double, tell: @escaping @Sendable () -> Void) {
    state = Mutex(State(limit: limit))
    self.tell = tell
  }

  /// Called after each failed try, counted from 0; false gives up. Time is counted in pauses, not by the clock.
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

  /// Maximum waiting time in seconds.
  var limit: Double { state.withLock(\.limit) }

  /// Waits no longer than this many seconds while `body` runs. For the one connection that writes.
  func limited<Value>(to limit: Double, _ body: () throws -> Value) rethrows -> Value {
    let before = state.withLock { state in
      defer { state.limit = limit }
      return state.limit
    }
    defer { state.withLock { $0.limit = before } }
    return try body()
  }

  /// Waits no longer than until `isCancelled` while `body` runs. For the one connection that writes.
  func unless<Value>(_ isCancelled: @escaping @Sendable () -> Bool, _ body: () throws -> Value) rethrows -> Value {
    state.withLock { $0.isCancelled = isCancelled }
    defer { state.withLock { $0.isCancelled = { false } } }
    return try body()
  }

  private static func waited(before tries: Int) -> Int {
    pauses.prefix(tries).reduce(0, +) + max(0, tries - pauses.count) * 100
  }
}

/// Who holds a lock, as far as the kernel lets everybody see.
enum LockHolder {
  /// https://www.sqlite.org/walformat.html section 2.3.2: the byte of the index of the log that a writer locks.
  private static let writeLock = "120"

  /// `hpeer import (process 4711)`; `nil` where the process is not seen here.
  static func name(ofWriterTo path: String) -> String? {
    guard let index = FileStatus(path + "-shm") else { return nil }
    let lock = KernelLock.all().first {
      $0.kind == "POSIX" && $0.isExclusive && $0.start == writeLock && $0.inode == index.inode && $0.process > 0
    }
    return lock.map { ProcessName.of($0.process) }
  }
}
