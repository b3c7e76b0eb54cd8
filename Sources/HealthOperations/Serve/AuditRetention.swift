import HealthModel
import HealthStore
import Logging
import ServiceLifecycle

/// A service that removes old audit events when the server starts and once a day.
public struct AuditRetention: Service {
  /// The default number of days that audit events are kept: a year.
  public static let defaultDays = 365

  private let store: HealthStore
  private let days: Int
  private let logger: Logger
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Timestamp?
  private let done: @Sendable (AuditPruning?) -> Void

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - days: the age at which an event is removed.
  ///   - clock: measures the day between two runs.
  ///   - now: returns the time from which ages are computed; `nil` for this machine's clock.
  ///   - done: called after each run with what was removed; `nil` if that failed.
  public init(
    store: HealthStore, days: Int, logger: Logger, clock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> Timestamp? = { nil }, done: @escaping @Sendable (AuditPruning?) -> Void = { _ in }
  ) {
    self.store = store
    self.days = days
    self.logger = logger
    self.clock = clock
    (self.now, self.done) = (now, done)
  }

  public func run() async {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        await prune()
        try? await clock.sleep(for: .seconds(86_400))
      }
    }
  }

  private func prune() async {
    do {
      let pruning = try await store.audit.prune(olderThan: Int64(days) * 86_400, now: now())
      done(pruning)
      switch pruning {
      case .nothing, .removed: break
      case .clockInDoubt:
        logger.notice("old audit events are kept for now: the clock may be wrong")
      case .damaged(let damage):
        logger.error(
          "old audit events are kept: \(damage.first?.description ?? "the log is damaged"); see `hpeer audit verify`")
      }
    } catch StoreError.cancelled {
      return
    } catch {
      logger.error("old audit events cannot be removed: \(error)")
      done(nil)
    }
  }
}
