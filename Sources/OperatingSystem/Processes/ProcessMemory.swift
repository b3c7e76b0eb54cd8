import CLinux
import Glibc

/// This process's memory, in which keys, tokens and codes lie while it runs.
public enum ProcessMemory {
  /// Keeps it out of core dumps, from other processes of the same user, and out of what Swift prints when it crashes:
  /// the runtime's backtracer shows registers and the memory that they point to. Call it first thing.
  ///
  /// The limit alone would not do: a kernel that pipes dumps to a handler, as systemd sets it up, ignores it (core(5)).
  public static func keepPrivate() {
    _ = linux_set_undumpable()
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    // The backtracer's handlers are there before main, whatever SWIFT_BACKTRACE says by now.
    for crash in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP] { signal(crash, SIG_DFL) }
  }

  /// The resident memory of this process in bytes, as proc(5) has it; nil if the kernel does not say.
  public static var residentBytes: Int? {
    guard case .text(let text) = FileContents(path: "/proc/self/statm") else { return nil }
    let fields = text.split(separator: " ", maxSplits: 2)
    return fields.count > 1 ? Int(fields[1]).map { $0 * Int(getpagesize()) } : nil
  }

  /// For a process that hands large blocks from thread to thread: else each thread's heap keeps the holes, and a process
  /// that runs longer becomes larger. Call it before the threads begin.
  public static func returnLargeBlocks() { linux_return_large_blocks() }
}
