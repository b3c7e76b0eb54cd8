import Foundation

extension Process {
  /// Starts it with no signal blocked. Tests run on threads that block most signals, and what is started from one would
  /// inherit that: it would hear no SIGHUP and no SIGTERM.
  public func runUnblocked() throws {
    var (none, before) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try run()
  }
}
