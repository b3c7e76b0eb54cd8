import Foundation
import Synchronization

/// The child processes that have not been reaped.
final class Children: Sendable {
  static let shared = Children()
  private let pids = Mutex<Set<pid_t>>([])

  func add(_ pid: pid_t) { pids.withLock { _ = $0.insert(pid) } }

  /// Waits for a process to end, and returns its status and resource usage.
  func reap(_ pid: pid_t) -> (status: Int32, usage: rusage) {
    var information = siginfo_t()
    // It keeps its number until it is taken off the list, so that nobody else is ever killed.
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    return pids.withLock { pids in
      var (status, usage) = (Int32(0), rusage())
      wait4(pid, &status, 0, &usage)
      pids.remove(pid)
      return (status, usage)
    }
  }

  /// Returns whether a process has ended, without reaping it.
  func hasEnded(_ pid: pid_t) -> Bool {
    var information = siginfo_t()
    return waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT | WNOHANG) == 0 && information.si_signo != 0
  }

  func send(_ signal: Int32, to pid: pid_t) {
    pids.withLock { if $0.contains(pid) { kill(pid, signal) } }
  }

  func killAll() {
    pids.withLock { for pid in $0 { kill(pid, SIGKILL) } }
  }
}
