import Synchronization

/// An answer that another thread gives once: the first answer counts, later ones are ignored.
final class MQTTReply<Value: Sendable>: Sendable {
  private enum State {
    case open
    case waiting(CheckedContinuation<Value, any Error>)
    case answered(Result<Value, any Error>)
    case taken
  }

  private let state = Mutex(State.open)

  func answer(_ result: Result<Value, any Error>) {
    let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
      switch state {
      case .open:
        state = .answered(result)
        return nil
      case .waiting(let continuation):
        state = .taken
        return continuation
      case .answered, .taken: return nil
      }
    }
    continuation?.resume(with: result)
  }

  /// Waits for the answer. May be called only once. Throws if the task is cancelled.
  func value() async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state -> Result<Value, any Error>? in
          if case .answered(let result) = state {
            state = .taken
            return result
          }
          state = .waiting(continuation)
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      answer(.failure(CancellationError()))
    }
  }
}
