import Glibc

/// Stops Swift's worker threads from logging a line for each priority that the system denies them, as it does for
/// every user but root. Keeps a `LIBDISPATCH_LOG` that is set already. Call it before the threads start.
public func quietWorkerThreads() {
  setenv("LIBDISPATCH_LOG", "NO", 0)
}
