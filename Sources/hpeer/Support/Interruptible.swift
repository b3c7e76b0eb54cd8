import ServiceLifecycle
import UnixSignals

/// Runs work that Ctrl-C or SIGTERM cancels, so that it can end in good order: what is committed stays, and the exit
/// code is 130.
///
/// - Parameter consequence: The state after an interruption, if the error does not tell it; follows "Interrupted; ".
func interruptible<Value: Sendable>(
  _ consequence: String = "everything up to here is saved, and the same command goes on from there.",
  _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  switch try await untilInterrupted(work) {
  case .ended(let value): return value
  case .interrupted(let error as any WordedError) where error.status == .interrupted: throw error
  case .interrupted: throw CommandFailure(.interrupted, "Interrupted; \(consequence)")
  }
}

/// The outcome of work that a signal may have cancelled.
enum Interruption<Value: Sendable>: Sendable {
  case ended(Value)
  /// A signal came. The work ended with this error, if any.
  case interrupted((any Error)?)
}

/// Runs work that Ctrl-C or SIGTERM cancels.
func untilInterrupted<Value: Sendable>(
  _ work: @escaping @Sendable () async throws -> Value
) async throws -> Interruption<Value> {
  let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
  return try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask(operation: work)
    group.addTask {
      for await _ in signals { return nil }
      // The stream ends only with its task: the work has finished first.
      try await Task.sleep(for: .seconds(Int32.max))
      return nil
    }
    defer { group.cancelAll() }
    guard let first = try await group.next(), let value = first else {
      group.cancelAll()
      // Wait for the work to notice, so that nothing is cut off in a write.
      switch await group.nextResult() {
      case .success(let value?): return .ended(value)
      case .failure(let error): return .interrupted(error)
      case .success(nil), nil: return .interrupted(nil)
      }
    }
    return .ended(value)
  }
}
