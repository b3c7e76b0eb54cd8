import CLinux
import Glibc

/// What a process gives up before it parses bytes that nobody vouches for.
public enum Confinement {
  /// How much a confined process may still take.
  public struct Limits: Sendable {
    /// Of address space, in bytes.
    public var memory: Int
    /// Of processor time, in seconds.
    public var processorSeconds: Int

    /// - Parameters:
    ///   - memory: of address space, in bytes, libraries included.
    ///   - processorSeconds: in programs and in the kernel.
    public init(memory: Int, processorSeconds: Int) {
      (self.memory, self.processorSeconds) = (memory, processorSeconds)
    }
  }

  /// Closes everything but standard input, output and error, leaves the folder that the process was started in, and lets
  /// it end when the thread does that has started it.
  public static func leaveParent() {
    _ = linux_end_with_parent()
    if linux_close_from(3) != 0 {
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      for descriptor in 3..<Int32(clamping: min(limit.rlim_cur, 65_536)) { close(descriptor) }
    }
    _ = chdir("/")
  }

  /// From now on this process can open no file and no socket, start nothing, and take no more than `limits` says. It
  /// keeps what it has loaded, and its standard input, output and error. Cannot be undone.
  ///
  /// Each measure stands where another is not to be had: an empty network where one may be made, limits of descriptors,
  /// processes and the size of files everywhere, and a filter of system calls where the kernel has one.
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
