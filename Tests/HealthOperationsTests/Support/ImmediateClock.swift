import TestSupport

/// A clock that stands still. A sleep returns at once or lasts until its task is cancelled, depending on its
/// duration.
struct ImmediateClock: Clock {
  private let clock = ManualClock()
  private let isImmediate: @Sendable (Duration) -> Bool

  /// - Parameter isImmediate: Whether a sleep of this duration returns at once.
  init(where isImmediate: @escaping @Sendable (Duration) -> Bool) { self.isImmediate = isImmediate }

  var now: ManualClock.Instant { clock.now }
  var minimumResolution: Duration { clock.minimumResolution }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    guard isImmediate(now.duration(to: deadline)) else {
      return try await clock.sleep(until: deadline, tolerance: tolerance)
    }
    await Task.yield()
    try Task.checkCancellation()
  }
}
