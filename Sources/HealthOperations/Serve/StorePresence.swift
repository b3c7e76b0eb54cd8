import HealthStore
import ServiceLifecycle

/// A service that throws ``StoreError/gone(path:)`` when the store is deleted, moved away or replaced, which ends its group: the
/// server would go on reading deleted files, and its audit log would be lost.
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
