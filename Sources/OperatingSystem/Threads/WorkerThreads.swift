import Glibc

/// Keeps Swift's threads from writing to the system's log that they ask for priorities which they are not given: a line for
/// each, under any user but root. Where `LIBDISPATCH_LOG` says otherwise, that stays. Call it before the threads begin.
public func quietWorkerThreads() {
  setenv("LIBDISPATCH_LOG", "NO", 0)
}
