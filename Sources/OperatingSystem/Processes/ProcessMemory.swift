import CLinux
import Glibc

/// The memory of this process, which holds keys, tokens and codes.
public enum ProcessMemory {
  /// Keeps the memory out of core dumps, away from other processes of the same user, and out of Swift's crash
  /// reports: the runtime's backtracer prints registers and the memory that they point to. Call it before anything
  /// else.
  ///
  /// The core size limit alone is not enough: the kernel ignores it if dumps are piped to a handler, as on systemd
  /// systems (core(5)).
  public static func keepPrivate() {
    _ = linux_set_undumpable()
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    // The backtracer installs its handlers before main; changing SWIFT_BACKTRACE here would be too late.
    for crash in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP] { signal(crash, SIG_DFL) }
  }

  /// The resident memory of this process in bytes, as proc(5) has it; nil if the kernel does not say.
  public static var residentBytes: Int? {
    guard case .text(let text) = FileContents(path: "/proc/self/statm") else { return nil }
    let fields = text.split(separator: " ", maxSplits: 2)
    return fields.count > 1 ? Int(fields[1]).map { $0 * Int(getpagesize()) } : nil
  }

  /// Configures the allocator for a process that passes large blocks between threads: otherwise each thread's heap
  /// keeps the gaps, and a long-running process grows. Call it before the threads start.
  public static func returnLargeBlocks() { linux_return_large_blocks() }
}
