import OperatingSystem
import ServiceLifecycle
import Synchronization

/// A service that notifies the service manager of a command's state: ready, alive, reloading, stopping.
///
/// It must be the last in its group, because the last service is the first to learn of a shutdown.
///
/// ```swift
/// import HealthStore
///
/// func report(_ store: HealthStore, to manager: ServiceManager) -> ServiceReporting {
///   ServiceReporting(manager, readyAtOnce: "Delivering") { _ = try? await store.feed.currentAnchor() }
/// }
/// ```
public final class ServiceReporting: Service {
  private let manager: ServiceManager
  private let readyAtOnce: String?
  private let clock: any Clock<Duration>
  private let answer: @Sendable () async -> Void
  /// The last status that was sent.
  private let status = Mutex("")

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - readyAtOnce: the status of a command that is ready as soon as it runs; `nil` if it calls ``ready(_:)``.
  ///   - clock: measures the watchdog's interval.
  ///   - answer: accesses everything that must not hang, and returns when that has responded, even with an error.
  ///     Errors are reported elsewhere, and a restart would not fix them.
  public init(
    _ manager: ServiceManager, readyAtOnce: String? = nil, clock: any Clock<Duration> = ContinuousClock(),
    answer: @escaping @Sendable () async -> Void
  ) {
    (self.manager, self.readyAtOnce, self.clock, self.answer) = (manager, readyAtOnce, clock, answer)
  }

  /// Tells the service manager that the command is ready.
  ///
  /// - Parameter status: one line for people, which `systemctl status` shows to everyone who may see the service. It
  ///   must contain nothing about the record.
  public func ready(_ status: String) async {
    self.status.withLock { $0 = status }
    await manager.tell(.ready(status: status))
  }

  /// Runs `work`, which reads the settings again, and tells the service manager about that.
  public func reload(_ work: @Sendable () async -> Void) async {
    await manager.tell(.reloading(at: ServiceManager.monotonicNow()))
    await work()
    await manager.tell(.ready(status: status.withLock(\.self)))
  }

  public func run() async {
    if let readyAtOnce { await ready(readyAtOnce) }
    await cancelWhenGracefulShutdown {
      // Half of the watchdog interval, as sd_watchdog_enabled(3) recommends.
      guard let pause = self.manager.watchdog.map({ $0 / 2 }) else { return await self.untilCancelled() }
      while !Task.isCancelled {
        await self.answer()
        await self.manager.tell(.alive)
        try? await self.clock.sleep(for: pause)
      }
    }
    await manager.tell(.stopping)
  }

  private func untilCancelled() async {
    let (forever, never) = AsyncStream.makeStream(of: Void.self)
    for await _ in forever {}
    never.finish()
  }
}
