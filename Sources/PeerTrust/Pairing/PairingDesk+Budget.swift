import Foundation
import OperatingSystem
import PeerProtocol

/// What limits the attempts: the count, the lock and the time.
extension PairingDesk {
  var attemptsLeft: Int { max(0, limits.failureBudget - state.failures) }

  /// Whether one more attempt can begin without the failures possibly exceeding the budget.
  var hasRoom: Bool {
    sessions.count < limits.maximumSessions && state.failures + sessions.count < limits.failureBudget
  }

  /// Makes sure that there is room for one more attempt of a caller.
  ///
  /// Where all places are taken, the oldest attempt makes room once it has had the time that an exchange takes. So one
  /// caller that begins again and again and never finishes does not keep another from pairing.
  /// - Throws: `tooManySessions`, which the server's owner is told of.
  func makeRoom(for caller: String) throws(PairRejection) {
    if hasRoom { return }
    let now = clock()
    let oldest = sessions.min { $0.value.startedAt < $1.value.startedAt }
    if let oldest, oldest.value.startedAt + limits.sessionProtection <= now {
      displace(oldest.key)
      if hasRoom { return }
    }
    reportKeptOut(caller)
    throw .tooManySessions
  }

  /// A caller has one place: whoever begins again has given up what it began before.
  func giveUpSessions(of caller: String) {
    for (id, session) in sessions where session.caller == caller { displace(id) }
  }

  private func displace(_ id: [UInt8]) {
    guard var session = sessions.removeValue(forKey: id) else { return }
    session.exchange = nil
    displaced.append((id, session))
    if displaced.count > Self.maximumDisplaced { displaced.removeFirst() }
  }

  /// Remembered to tell the owner of those who come back; more begin in vain only in a flood, which shows in any case.
  private static let maximumDisplaced = 64

  /// At most once a second: whoever floods the desk must not push other events out of a listener's buffer.
  func reportKeptOut(_ caller: String) {
    let now = clock()
    if let last = lastKeptOut, last <= now, now < last + 1 { return }
    lastKeptOut = now
    report(.keptOut(caller: caller, holders: Set(sessions.values.map(\.caller)).sorted()))
  }

  func endSessions() {
    sessions = [:]
    displaced = []
  }

  /// The open window, after everything that time has ended is gone.
  func requireWindow() throws(PairRejection) -> PairingWindow {
    reap()
    guard let window else { throw state.isLocked ? .windowLocked : .windowClosed }
    return window
  }

  func reap() {
    let now = clock()
    receipts = receipts.filter { $0.value.storedAt <= now && now < $0.value.storedAt + limits.receiptLifetime }
    sessions = sessions.filter { $0.value.isLive(at: now, lifetime: limits.sessionLifetime) }
    displaced.removeAll { !$0.session.isLive(at: now, lifetime: limits.sessionLifetime) }
    if let window, !window.isLive(at: now) { closeWindow(.expired) }
  }

  func closeWindow(_ reason: PairingEvent.CloseReason) {
    window = nil
    endSessions()
    timer?.cancel()
    report(.windowClosed(reason))
  }

  /// Counts a failed attempt, on the disk before anyone hears of it, and replaces the code or locks.
  func fail(_ reason: PairingEvent.FailureReason) async -> PairRejection {
    state.failures += 1
    let left = attemptsLeft
    report(.failed(reason, attemptsLeft: left))
    if left == 0 {
      lock()
    } else {
      window?.secret = PairingWindow.Secret(serverID: serverID, derivation: derivation)
      report(.codeRotated(attemptsLeft: left))
    }
    if await saveState() == nil { return .wrongCode(attemptsLeft: left) }
    // A count that cannot be kept must not be refilled by a crash.
    if window != nil { lock() }
    return .wrongCode(attemptsLeft: 0)
  }

  private func lock() {
    state.isLocked = true
    window = nil
    endSessions()
    timer?.cancel()
    report(.windowLocked)
  }

  /// Nil, or why the state could not be written.
  func saveState() async -> String? {
    let state = state
    // The continuation's body runs before this actor lets anyone else in, so the order of the queue is the order of the
    // attempts.
    return await withCheckedContinuation { continuation in
      stateFile.queue.async { [stateFile] in
        do {
          try stateFile.write(state)
          continuation.resume(returning: nil)
        } catch let error as SystemError {
          continuation.resume(returning: error.reason)
        } catch {
          continuation.resume(returning: "\(error)")
        }
      }
    }
  }

  func startTimer(_ number: Int) {
    timer?.cancel()
    let lifetime = limits.windowLifetime
    timer = Task { [weak self, timerClock] in
      // A little late, so that the wall clock has surely passed the end.
      try? await timerClock.sleep(for: .seconds(lifetime + 0.1))
      if !Task.isCancelled { await self?.reap() }
    }
  }
}
