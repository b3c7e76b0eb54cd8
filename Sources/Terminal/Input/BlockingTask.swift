import Dispatch

/// Runs `work`, which may block, on `queue`, never on a thread of the cooperative pool. Cancelling the task wakes the pipe
/// handed to `work`, which then must return.
func runBlocking<Value: Sendable>(
  on queue: DispatchQueue, waking pipe: WakePipe, _ work: @escaping @Sendable () -> Value
) async -> Value {
  await withTaskCancellationHandler {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: work()) }
    }
  } onCancel: {
    pipe.wake()
  }
}
