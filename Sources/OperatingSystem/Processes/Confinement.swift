import CLinux
import Glibc

/// A sandbox for processes that parse untrusted bytes.
public enum Confinement {
  /// The resource limits of a confined process.
  public struct Limits: Sendable {
    /// The maximum address space, in bytes.
    public var memory: Int
    /// The maximum processor time, in seconds.
    public var processorSeconds: Int

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - memory: the maximum address space in bytes, including libraries.
    ///   - processorSeconds: the maximum user and system time, in seconds.
    public init(memory: Int, processorSeconds: Int) {
      (self.memory, self.processorSeconds) = (memory, processorSeconds)
    }
  }

  /// Closes every descriptor except standard input, output and error, leaves the current directory, and makes the
  /// process end when the thread that started it ends.
  public static func leaveParent() {
    _ = linux_end_with_parent()
    if linux_close_from(3) != 0 {
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      for descriptor in 3..<Int32(clamping: min(limit.rlim_cur, 65_536)) { close(descriptor) }
    }
    _ = chdir("/")
  }

  /// Confines this process: it can open no file and no socket, start no process, and use no more than `limits`.
  /// Loaded libraries and standard input, output and error stay usable. Cannot be undone.
  ///
  /// The measures back each other up: an empty network namespace if the kernel permits it, limits on descriptors,
  /// processes and file sizes everywhere, and a system call filter if the kernel supports it.
  public static func enter(_ limits: Limits) {
    _ = linux_leave_network()
    func limit(_ resource: __rlimit_resource, _ value: Int) {
      var most = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
      setrlimit(__rlimit_resource_t(resource.rawValue), &most)
    }
    limit(RLIMIT_AS, limits.memory)
    limit(RLIMIT_CPU, limits.processorSeconds)
    limit(RLIMIT_FSIZE, 0)
    limit(__RLIMIT_NPROC, 0)
    limit(RLIMIT_CORE, 0)
    limit(RLIMIT_NOFILE, 0)
    _ = linux_allow_only_computing()
  }
}
