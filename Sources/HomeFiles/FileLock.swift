#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A lock between processes (and between threads of one) on a file that is made for it and stays.
public enum FileLock {
  /// Opens the file at `path`, and makes it where there is none. For flock(2); whoever calls closes it.
  public static func open(_ path: String) throws(SystemError) -> Int32 {
    try PrivateFile.open(path, O_RDWR | O_CREAT | O_NONBLOCK)
  }

  /// Runs `body` alone. Blocks until the lock is free; the kernel frees it when its holder dies.
  public static func withLock<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    let descriptor = try open(path)
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw SystemError("lock", path) }
    }
    return try body()
  }
}
