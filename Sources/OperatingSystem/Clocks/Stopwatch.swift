extension Clock<Duration> {
  /// Tells how long ago this was called, by this clock.
  public func stopwatch() -> @Sendable () -> Duration {
    let start = now
    return { start.duration(to: now) }
  }
}
