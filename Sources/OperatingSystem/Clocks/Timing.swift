extension Clock<Duration> {
  /// Returns a function that returns the time since this call, by this clock.
  public func stopwatch() -> @Sendable () -> Duration {
    let start = now
    return { start.duration(to: now) }
  }
}

/// A time limit for work that may block.
public enum TimeLimit {
  /// Returns the value of `work`, or nil if the time is up or the task is cancelled. In these cases `work` is
  /// cancelled but not awaited, because a blocking call (such as to a disk that does not answer) cannot be
  /// interrupted.
  public static func run<Value: Sendable>(
    _ limit: Duration, clock: any Clock<Duration> = ContinuousClock(), _ work: @escaping @Sendable () async -> Value
  ) async -> Value? {
    let (results, result) = AsyncStream.makeStream(of: Value?.self)
    let worker = Task { result.yield(await work()) }
    let timer = Task {
      try? await clock.sleep(for: limit)
      result.yield(nil)
    }
    defer {
      worker.cancel()
      timer.cancel()
    }
    for await value in results { return value }
    return nil
  }
}

/// Runs work with a time limit. When the time is up, the work is cancelled and `late` is thrown.
public func within<Value: Sendable>(
  _ time: Duration, orThrow late: any Error, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { try await work() }
    group.addTask {
      try await Task.sleep(for: time)
      return nil
    }
    defer { group.cancelAll() }
    guard let value = try await group.next() ?? nil else { throw late }
    return value
  }
}
