import OperatingSystem

/// Keeps requests below what the app allows: sixty in sixty seconds, for the whole run.
struct HealthSyncPace {
  /// One less than the app allows: its clock and ours do not begin a minute together.
  static let mostRequests = 59
  static let period = Duration.seconds(60)

  private let clock: any Clock<Duration>
  private let elapsed: @Sendable () -> Duration
  /// When the latest requests left, oldest first.
  private var times: [Duration] = []

  init(_ clock: any Clock<Duration>) {
    self.clock = clock
    elapsed = clock.stopwatch()
  }

  /// Waits until another request may leave, and counts it.
  mutating func take() async throws {
    if times.count == Self.mostRequests, let first = times.first {
      let wait = first + Self.period - elapsed()
      if wait > .zero { try await clock.sleep(for: wait) }
      times.removeFirst()
    }
    times.append(elapsed())
  }

  /// The app has refused a request: another run has used up its minute. How long to wait before the next, longer each time.
  static func pause(afterRefusals count: Int) -> Duration { .seconds(min(60, 15 << min(count, 4))) }
}
