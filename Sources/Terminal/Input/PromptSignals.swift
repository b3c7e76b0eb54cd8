import Glibc
import Synchronization

/// While a question waits, signals that would end or stop the process become bytes in a pipe, so that the terminal can
/// be put in order first.
struct PromptSignals {
  /// Where caught signals arrive, one byte each, the signal's number. Never closed: a handler may run at any time.
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
      // nohup and shells without job control have these ignored, and mean it.
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

  /// Stops the process, as Ctrl-Z asked; returns when it is continued.
  func stopProcess() {
    // raise, not kill: a signal to this thread stops it before the next line, one to the process may stop it later.
    raise(SIGSTOP)
  }

  /// Lets this thread receive the signals even if every other thread blocks them (dispatch's threads do); the ones for
  /// background jobs too, or the job would take the terminal from its shell. Returns the mask before.
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

/// Runs inside a signal handler: nothing but what signal-safety(7) allows.
private func noteSignal(_ number: Int32) {
  let code = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = write(handlerDescriptor.load(ordering: .relaxed), &byte, 1)
  errno = code
}
