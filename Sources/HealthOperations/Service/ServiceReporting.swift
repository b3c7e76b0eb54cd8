import OperatingSystem
import ServiceLifecycle
import Synchronization

/// Tells the service manager how a long-running command goes: that it is ready, that it still answers, that it reads its
/// settings again, and that it ends.
///
/// A service to be run in a group, the last of it: that one is the first to hear of a shutdown.
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
  /// The last one that was told.
  private let status = Mutex("")

  /// - Parameters:
  ///   - readyAtOnce: the status of a command that is ready as soon as it runs; `nil` for one that says when.
  ///   - clock: by which the watchdog's time passes.
  ///   - answer: goes through all that must not hang, and returns when that has answered, be it well or not: what fails is
  ///     told elsewhere, and is no better after a new start.
  public init(
    _ manager: ServiceManager, readyAtOnce: String? = nil, clock: any Clock<Duration> = ContinuousClock(),
    answer: @escaping @Sendable () async -> Void
  ) {
    (self.manager, self.readyAtOnce, self.clock, self.answer) = (manager, readyAtOnce, clock, answer)
  }

  /// To be called when the command does what it is there for.
  ///
  /// - Parameter status: one line for a person, which `systemctl status` shows to all who may see the service: nothing
  ///   about the record.
  public func ready(_ status: String) async {
    self.status.withLock { $0 = status }
    await manager.tell(.ready(status: status))
  }

  /// Reads settings again.
  public func reload(_ work: @Sendable () async -> Void) async {
    await manager.tell(.reloading(at: ServiceManager.monotonicNow()))
    await work()
    await manager.tell(.ready(status: status.withLock(\.self)))
  }

  public func run() async {
    if let readyAtOnce { await ready(readyAtOnce) }
    await cancelWhenGracefulShutdown {
      // Half of the time, as sd_watchdog_enabled(3) recommends.
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
