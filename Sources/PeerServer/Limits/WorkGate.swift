import Synchronization

/// Lets so many pieces of heavy work be done at a time; the others wait in order of arrival.
///
/// Reading and encoding a page of samples keeps a thread for many milliseconds. There are no more threads than cores,
/// so two hundred clients that pull at once would have a short request wait behind two hundred pages.
final class WorkGate: Sendable {
  private struct State {
    var free: Int
    var next: UInt64 = 0
    /// In order of arrival.
    var waiting: [(id: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
  }

  private let state: Mutex<State>

  /// - Parameter places: how many may be inside.
  init(places: Int) {
    state = Mutex(State(free: max(1, places)))
  }

  /// Waits for a place. Throws `CancellationError` if the task is cancelled meanwhile.
  func enter() async throws -> Place {
    try await wait()
    return Place(self)
  }

  /// Tasks that wait.
  var queueLength: Int { state.withLock(\.waiting.count) }

  fileprivate func wait() async throws {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let answer: Result<Void, any Error>? = state.withLock { state in
          // Under the lock: a cancellation is seen either here or by the handler below.
          if Task.isCancelled { return .failure(CancellationError()) }
          guard state.free == 0 else {
            state.free -= 1
            return .success(())
          }
          state.waiting.append((id, continuation))
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).continuation }
      }
      waiting?.resume(throwing: CancellationError())
    }
  }

  fileprivate func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst().continuation }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}

extension WorkGate {
  /// A place inside, given back when the last reference to it goes.
  final class Place: Sendable {
    private let gate: WorkGate
    private let isHeld = Mutex(true)

    fileprivate init(_ gate: WorkGate) {
      self.gate = gate
    }

    /// Lets the next one in.
    func leave() {
      let wasHeld = isHeld.withLock { isHeld in
        defer { isHeld = false }
        return isHeld
      }
      if wasHeld { gate.leave() }
    }

    /// Goes to the end of the queue. Only after ``leave()``.
    func enterAgain() async throws {
      try await gate.wait()
      isHeld.withLock { $0 = true }
    }

    deinit { leave() }
  }
}
