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
