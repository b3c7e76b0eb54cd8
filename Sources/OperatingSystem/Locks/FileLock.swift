import Glibc

/// A lock between processes (and between threads of one) on a file that is made for it and stays: flock(2). It is held for
/// as long as this exists; the kernel frees it when its holder dies.
public final class FileLock: Sendable {
  /// With whom a lock may be held.
  public enum Sharing: Sendable {
    /// `shared` with all who ask for the same; `alone` with nobody.
    case shared, alone

    fileprivate var operation: Int32 { self == .shared ? LOCK_SH : LOCK_EX }
  }

  private let descriptor: Int32

  /// Blocks until the lock is free.
  public init(_ path: String, _ sharing: Sharing) throws(SystemError) {
    descriptor = try Self.open(path)
    while flock(descriptor, sharing.operation) != 0 {
      guard errno == EINTR else { throw SystemError("lock", path) }
    }
  }

  /// Blocks until the lock is free; nil once `isCancelled` before that. Looks every 20 ms, because nothing wakes flock(2).
  public init?(_ path: String, _ sharing: Sharing, unless isCancelled: () -> Bool) throws(SystemError) {
    descriptor = try Self.open(path)
    while flock(descriptor, sharing.operation | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { throw SystemError("lock", path) }
      if isCancelled() { return nil }
      usleep(20_000)
    }
  }

  /// Nil where somebody else holds the lock.
  public init?(ifFree path: String, _ sharing: Sharing) throws(SystemError) {
    descriptor = try Self.open(path)
    guard flock(descriptor, sharing.operation | LOCK_NB) == 0 else { return nil }
  }

  /// Unlocked first: a child between fork(2) and execve(2) still has the descriptor, and would hold the lock.
  deinit {
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Opens the file at `path`, and makes it where there is none. For flock(2); whoever calls closes it.
  public static func open(_ path: String) throws(SystemError) -> Int32 {
    try PrivateFile.open(path, O_RDWR | O_CREAT | O_NONBLOCK)
  }

  /// Runs `body` alone. Blocks until the lock is free.
  public static func withLock<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    let lock = try FileLock(path, .alone)
    return try withExtendedLifetime(lock, body)
  }
}
