import HealthStore
import Logging
import ServiceLifecycle

/// A service that maintains a store once a day, when nothing is being written to it.
public struct StoreMaintenance: Service {
  /// The time without writes after which the store counts as idle.
  private static let idle = Duration.seconds(300)
  private static let pause = Duration.seconds(86_400)

  private let store: HealthStore
  private let logger: Logger
  private let clock: any Clock<Duration>
  private let done: @Sendable (StoreFinding?) -> Void

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - clock: measures the pauses.
  ///   - done: called after each run with the damage that was found, if any.
  public init(
    store: HealthStore, logger: Logger, clock: any Clock<Duration> = ContinuousClock(),
    done: @escaping @Sendable (StoreFinding?) -> Void = { _ in }
  ) {
    self.store = store
    self.logger = logger
    self.clock = clock
    self.done = done
  }

  public func run() async {
    await cancelWhenGracefulShutdown {
      // A random start, so that a server that restarts often does not check the same table each time.
      var turn = Int.random(in: 0..<1000)
      while !Task.isCancelled {
        guard (try? await untilIdle()) != nil else { continue }
        await maintain(turn)
        turn += 1
        try? await clock.sleep(for: Self.pause)
      }
    }
  }

  /// Returns when nothing has been written for five minutes.
  private func untilIdle() async throws {
    var before = try? await store.feed.currentAnchor()
    while true {
      try await clock.sleep(for: Self.idle)
      let now = try? await store.feed.currentAnchor()
      if now == before { return }
      before = now
    }
  }

  private func maintain(_ turn: Int) async {
    do {
      let finding = try await store.maintain(turn: turn)
      if let finding {
        logger.error(
          "the store is damaged: \(finding) See `hpeer doctor --check-store`, and restore a backup (`hpeer restore`).")
      }
      done(finding)
    } catch StoreError.cancelled {
      return
    } catch {
      logger.error("the store could not be kept in order: \(error)")
    }
  }
}

/// A service that throws ``StoreError/gone(path:)`` when the store is deleted, moved or replaced. The error ends its
/// group: otherwise the server would keep reading deleted files, and its audit log would be lost.
public struct StorePresence: Service {
  private let store: HealthStore
  private let clock: any Clock<Duration>

  /// Creates the service.
  ///
  /// - Parameter clock: measures the second between two checks.
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
