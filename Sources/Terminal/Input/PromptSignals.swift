import Glibc
import Synchronization

/// The signal handlers that are installed while a question waits. Signals that would end or stop the process become
/// bytes in a pipe, so that the terminal can be restored first.
struct PromptSignals {
  /// The pipe in which caught signals arrive, one byte each, the signal's number. Never closed: a handler may run at
  /// any time.
  static let pipe: WakePipe? = {
    let pipe = WakePipe()
    handlerDescriptor.store(pipe?.writeEnd ?? -1, ordering: .relaxed)
    return pipe
  }()

  private static let caught = [SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP, SIGCONT]

  private let handlers: [(signal: Int32, before: sigaction)]
  private let mask: sigset_t

  /// Catches the signals for this thread's question. Must be released on the same thread.
  static func catchAll() -> PromptSignals {
    while pipe?.take() != nil {}  // what an earlier question left behind
    var catching = sigaction()
    catching.__sigaction_handler.sa_handler = noteSignal
    catching.sa_flags = SA_RESTART
    sigemptyset(&catching.sa_mask)

    var handlers: [(Int32, sigaction)] = []
    for number in caught {
      var before = sigaction()
      sigaction(number, nil, &before)
      // nohup and shells without job control ignore these on purpose.
      if number == SIGHUP || number == SIGTSTP, isIgnored(before) { continue }
      sigaction(number, &catching, nil)
      handlers.append((number, before))
    }
    return PromptSignals(handlers: handlers, mask: unblock())
  }

  func release() {
    for (number, handler) in handlers {
      var before = handler
      sigaction(number, &before, nil)
    }
    var mask = mask
    pthread_sigmask(SIG_SETMASK, &mask, nil)
  }

  /// Stops the process, as Ctrl-Z asked, and returns when it is continued.
  func stopProcess() {
    // raise, not kill: a signal to this thread stops it before the next line, one to the process may stop it later.
    raise(SIGSTOP)
  }

  /// Unblocks the signals for this thread, even if every other thread blocks them (dispatch's threads do). Signals
  /// for background jobs are among them, or the job would take the terminal from its shell. Returns the previous
  /// mask.
  private static func unblock() -> sigset_t {
    var wanted = sigset_t()
    var before = sigset_t()
    sigemptyset(&wanted)
    for number in caught + [SIGTTIN, SIGTTOU] { sigaddset(&wanted, number) }
    pthread_sigmask(SIG_UNBLOCK, &wanted, &before)
    return before
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    // SIG_IGN is an integer in the guise of a function, and functions cannot be compared.
    unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

private let handlerDescriptor = Atomic<Int32>(-1)

/// Writes a signal's number to the pipe. Runs inside a signal handler, where only signal-safety(7) calls are allowed.
private func noteSignal(_ number: Int32) {
  let code = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = write(handlerDescriptor.load(ordering: .relaxed), &byte, 1)
  errno = code
}
