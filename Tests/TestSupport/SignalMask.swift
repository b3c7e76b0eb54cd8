import Foundation

extension Process {
  /// Starts the process with no signal blocked. Tests run on threads that block most signals; a child that inherited
  /// the mask would receive neither SIGHUP nor SIGTERM.
  public func runUnblocked() throws {
    var (none, before) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try run()
  }
}
