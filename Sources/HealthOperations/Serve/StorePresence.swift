import HealthStore
import ServiceLifecycle

/// Ends whatever serves or runs for a home when its store is deleted, moved away or replaced: it would go on with a record that
/// nobody sees any more, and with no audit log. Throws ``StoreError/gone(path:)`` then.
public struct StorePresence: Service {
  private let store: HealthStore
  private let clock: any Clock<Duration>

  /// - Parameter clock: by which a second passes between two looks.
  public init(_ store: HealthStore, clock: any Clock<Duration> = ContinuousClock()) {
    self.store = store
    self.clock = clock
  }

  public func run() async throws {
    try await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        try store.requireInPlace()
        try? await clock.sleep(for: .seconds(1))
      }
    }
  }
}
