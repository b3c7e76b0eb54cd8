/// The clock of the machine, on which pauses are of another length.
struct AlteredClock: Clock {
  private let clock = ContinuousClock()
  private let altered: @Sendable (Duration) -> Duration?

  /// - Parameter altered: how long a pause lasts instead; `nil` for one that never ends.
  init(_ altered: @escaping @Sendable (Duration) -> Duration?) { self.altered = altered }

  var now: ContinuousClock.Instant { clock.now }
  var minimumResolution: Duration { clock.minimumResolution }

  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
    try await clock.sleep(for: altered(clock.now.duration(to: deadline)) ?? .seconds(Int32.max))
  }
}
