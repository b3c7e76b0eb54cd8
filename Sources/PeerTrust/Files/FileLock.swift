#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An exclusive lock between processes (and between threads of one) on a file that is made for it and stays.
enum FileLock {
  /// Runs `body` alone. Blocks until the lock is free; the kernel frees it when its holder dies.
  static func withLock<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw SystemError("lock", path) }
    }
    return try body()
  }
}
