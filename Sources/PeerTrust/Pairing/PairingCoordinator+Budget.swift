import Foundation
import OperatingSystem
import PeerProtocol

/// The limits on pairing attempts: the failure budget, the lock and the time limits.
extension PairingCoordinator {
  var attemptsLeft: Int { max(0, limits.failureBudget - state.failures) }

  /// Whether one more attempt fits: even if all attempts in flight fail, the failures stay within the budget.
  var hasRoom: Bool {
    sessions.count < limits.maximumSessions && state.failures + sessions.count < limits.failureBudget
  }

  /// Makes room for one more attempt of a caller, or throws.
  ///
  /// If all places are taken, the oldest attempt is displaced once it has had the time that an exchange takes. So a
  /// caller that keeps starting attempts without finishing them cannot keep others from pairing.
  /// - Throws: `tooManySessions`, which is reported to the server's owner.
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

  /// Ends the earlier attempts of a caller that starts again: each caller has one place.
  func giveUpSessions(of caller: String) {
    for (id, session) in sessions where session.caller == caller { displace(id) }
  }

  private func displace(_ id: [UInt8]) {
    guard var session = sessions.removeValue(forKey: id) else { return }
    session.exchange = nil
    displaced.append((id, session))
    if displaced.count > Self.maximumDisplaced { displaced.removeFirst() }
  }

  /// The number of displaced attempts kept, so that the owner is told when one of them tries to finish. Only a flood
  /// displaces more, and a flood is reported anyway.
  private static let maximumDisplaced = 64

  /// Reports that a caller was kept out, at most once a second, so that a flood does not displace other events in a
  /// listener's buffer.
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

  /// Returns the open window, after removing everything that has expired.
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

  /// Counts a failed attempt, on disk before anyone is told, then replaces the code or locks the desk.
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
    // If the count cannot be stored, a crash would reset the budget.
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

  /// Stores the state. Returns nil, or the reason why it could not be written.
  func saveState() async -> String? {
    let state = state
    // The continuation's body runs before the actor admits another call, so writes are queued in the order of the
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
      // Slightly late, so that the wall clock has certainly passed the end.
      try? await timerClock.sleep(for: .seconds(lifetime + 0.1))
      if !Task.isCancelled { await self?.reap() }
    }
  }
}
