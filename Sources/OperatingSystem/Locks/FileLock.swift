import Glibc

/// A lock between processes, and between threads of a process, on a file that exists only for it and is never
/// deleted: flock(2). It is held while this object exists; the kernel releases it when the process ends.
public final class FileLock: Sendable {
  /// The mode of a lock.
  public enum Sharing: Sendable {
    /// `shared` locks exclude only `alone` locks; an `alone` lock excludes all others.
    case shared, alone

    fileprivate var operation: Int32 { self == .shared ? LOCK_SH : LOCK_EX }
  }

  private let descriptor: Int32

  /// Acquires the lock. Blocks until it is free.
  public init(_ path: String, _ sharing: Sharing) throws(SystemError) {
    descriptor = try Self.open(path)
    while flock(descriptor, sharing.operation) != 0 {
      guard errno == EINTR else { throw SystemError("lock", path) }
    }
  }

  /// Acquires the lock. Blocks until it is free; nil if `isCancelled` returns true before that. Polls every 20 ms,
  /// because flock(2) cannot be woken up.
  public init?(_ path: String, _ sharing: Sharing, unless isCancelled: () -> Bool) throws(SystemError) {
    descriptor = try Self.open(path)
    while flock(descriptor, sharing.operation | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { throw SystemError("lock", path) }
      if isCancelled() { return nil }
      usleep(20_000)
    }
  }

  /// Acquires the lock without waiting; nil if it is not free.
  public init?(ifFree path: String, _ sharing: Sharing) throws(SystemError) {
    descriptor = try Self.open(path)
    guard flock(descriptor, sharing.operation | LOCK_NB) == 0 else { return nil }
  }

  /// Unlocks explicitly: a child process between fork(2) and execve(2) still has the descriptor and would keep the
  /// lock.
  deinit {
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Opens the file at `path` for flock(2), and creates it if there is none. The caller closes the descriptor.
  public static func open(_ path: String) throws(SystemError) -> Int32 {
    try PrivateFile.open(path, O_RDWR | O_CREAT | O_NONBLOCK)
  }

  /// Runs `body` while holding an exclusive lock. Blocks until the lock is free.
  public static func withLock<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    let lock = try FileLock(path, .alone)
    return try withExtendedLifetime(lock, body)
  }
}
