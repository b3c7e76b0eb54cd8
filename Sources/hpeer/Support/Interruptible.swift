import Foundation
import ServiceLifecycle
import UnixSignals

/// Runs work that Ctrl-C or SIGTERM cancels, so that it can end in good order: what is committed stays, and the exit code is 130.
///
/// - Parameter consequence: what has become of the work then; follows "Interrupted; ".
func interruptible<Value: Sendable>(
  _ consequence: String = "everything up to here is saved, and the same command goes on from there.",
  _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  guard let value = try await untilInterrupted(work) else {
    throw CommandFailure(.interrupted, "Interrupted; \(consequence)")
  }
  return value
}

/// Runs work that Ctrl-C or SIGTERM cancels. `nil` if that ended it.
func untilInterrupted<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value? {
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
      while let rest = try? await group.next() {
        if let value = rest { return value }
      }
      return nil
    }
    return value
  }
}
