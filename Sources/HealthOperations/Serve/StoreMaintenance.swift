import HealthStore
import Logging
import ServiceLifecycle

/// Keeps a store in order while it is served, once a day, at a time when nothing is written to it.
public struct StoreMaintenance: Service {
  /// How long nothing must have been written.
  private static let idle = Duration.seconds(300)
  private static let pause = Duration.seconds(86_400)

  private let store: HealthStore
  private let logger: Logger
  private let clock: any Clock<Duration>
  private let done: @Sendable (StoreFinding?) -> Void

  /// - Parameters:
  ///   - clock: by which a day passes.
  ///   - done: told each time, with what is wrong with the store.
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
      // Not at every start the same table.
      var turn = Int.random(in: 0..<1000)
      while !Task.isCancelled {
        guard (try? await untilIdle()) != nil else { continue }
        await maintain(turn)
        turn += 1
        try? await clock.sleep(for: Self.pause)
      }
    }
  }

  /// Returns when nothing has been written for a while.
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
