import Glibc

/// The limit on files and sockets that this process may have open.
public enum DescriptorLimit {
  /// Raises the soft limit (1024 on most systems) to `wanted`, or as near to it as the hard limit allows.
  ///
  /// - Returns: the limit that now applies.
  public static func raise(to wanted: Int) -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    if limit.rlim_cur < rlim_t(wanted) {
      var raised = limit
      raised.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
      if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }
}
