import CLinux
import Glibc

/// This process's memory, in which keys, tokens and codes lie while it runs.
public enum ProcessMemory {
  /// Keeps it out of core dumps and from other processes of the same user. Call it first thing.
  ///
  /// The limit alone would not do: a kernel that pipes dumps to a handler, as systemd sets it up, ignores it (core(5)).
  public static func keepPrivate() {
    _ = linux_set_undumpable()
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }

  /// For a process that hands large blocks from thread to thread: else each thread's heap keeps the holes, and a process
  /// that runs longer becomes larger. Call it before the threads begin.
  public static func returnLargeBlocks() { linux_return_large_blocks() }
}
