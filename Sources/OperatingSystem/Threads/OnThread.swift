import Foundation
import Synchronization

/// Runs work that blocks or computes for long on a thread of its own, so that no thread of the cooperative pool waits for
/// it.
///
/// - Parameters:
///   - onCancel: called when the task is cancelled, perhaps before `work` begins: to wake work that waits.
///   - work: told whether the task has been cancelled. Nothing else ends it.
public func onThread<Value: Sendable, Failure: Error>(
  onCancel: @escaping @Sendable () -> Void = {},
  _ work: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(Failure) -> Value
) async throws(Failure) -> Value {
  let cancellation = Cancellation()
  let result: Result<Value, Failure> = await withTaskCancellationHandler {
    await withCheckedContinuation { continuation in
      let thread = Thread {
        continuation.resume(
          returning: Result { () throws(Failure) in try work { cancellation.flag.load(ordering: .acquiring) } })
      }
      // A parser may call itself as deep as its limits allow.
      thread.stackSize = 4 << 20
      thread.start()
    }
  } onCancel: {
    cancellation.flag.store(true, ordering: .releasing)
    onCancel()
  }
  return try result.get()
}

private final class Cancellation: Sendable {
  let flag = Atomic(false)
}

/// Runs work to its end whether or not the caller's task is cancelled: for what was done and must be written down.
public func uncancelled<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
  try await Task { try await work() }.value
}
