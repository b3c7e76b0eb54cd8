import Dispatch
import Foundation

/// Runs blocking work on a thread of its own and tells it when its task is cancelled.
package func onThread<Value: Sendable>(
  _ work: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> Value
) async throws -> Value {
  let cancelled = CancellationFlag()
  return try await withTaskCancellationHandler {
    try await withCheckedThrowingContinuation { continuation in
      let thread = Thread {
        continuation.resume(with: Result { try work { cancelled.isSet } })
      }
      thread.stackSize = 4 << 20
      thread.start()
    }
  } onCancel: {
    cancelled.set()
  }
}

private final class CancellationFlag: Sendable {
  private let flag = DispatchSemaphore(value: 0)

  func set() { flag.signal() }

  var isSet: Bool {
    guard flag.wait(timeout: .now()) == .success else { return false }
    // Stays set for the next who asks.
    flag.signal()
    return true
  }
}
