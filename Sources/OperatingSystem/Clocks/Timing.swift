extension Clock<Duration> {
  /// Tells how long ago this was called, by this clock.
  public func stopwatch() -> @Sendable () -> Duration {
    let start = now
    return { start.duration(to: now) }
  }
}

/// Work that may take only so long.
public enum TimeLimit {
  /// What `work` gives, or nil when the time is up or the task is cancelled. Then `work` is cancelled and left to itself,
  /// because a call that blocks (a disk that does not answer) cannot be ended.
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

/// Does something for so long at most; then it is cancelled, and the error thrown.
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
