/// Collects what a stream tells until `duration` is over, or `moment` has passed since the collector had enough.
///
/// - Parameter collect: reads a stream that ends when the task is cancelled, and returns what it has then; calls its
///   argument when what it has is enough.
/// - Returns: `nil` only if the calling task is cancelled.
func gather<Result: Sendable>(
  for duration: Duration, moment: Duration, clock: any Clock<Duration> = ContinuousClock(),
  _ collect: @escaping @Sendable (_ hasEnough: @escaping @Sendable () -> Void) async throws -> Result
) async throws -> Result? {
  let (signals, signal) = AsyncStream.makeStream(of: Void.self)
  return try await withThrowingTaskGroup(of: Result?.self) { group in
    group.addTask {
      try await collect { signal.finish() }
    }
    // A timer that is cancelled ends like one that has run out: the collector alone decides what comes of it.
    group.addTask {
      try? await clock.sleep(for: duration)
      return nil
    }
    group.addTask {
      for await _ in signals {}
      try? await clock.sleep(for: min(duration, moment))
      return nil
    }
    defer { group.cancelAll() }
    while let result = try await group.next() {
      if let result { return result }
      // Cancellation ends the stream, and what was collected is the result.
      group.cancelAll()
    }
    return nil
  }
}
