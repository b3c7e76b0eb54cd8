import Foundation
import Synchronization

/// Runs blocking or long-running work on a thread of its own, so that it does not occupy the cooperative pool.
///
/// - Parameters:
///   - onCancel: called when the task is cancelled, perhaps before `work` begins, to wake up waiting work.
///   - work: receives a function that returns whether the task is cancelled. Work that ignores it is not interrupted.
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
      // A parser may recurse as deeply as its limits allow.
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

/// Runs work to its end even if the caller's task is cancelled, for results that must be recorded.
public func uncancelled<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
  try await Task { try await work() }.value
}
