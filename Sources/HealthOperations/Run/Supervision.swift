import OperatingSystem
import Synchronization

/// Runs some work for as long as what it depends on stays the same, and begins anew when that has changed.
struct Supervision<State: Equatable & Sendable>: Sendable {
  /// How often it is looked whether anything has changed.
  var interval = Duration.seconds(2)
  var clock: any Clock<Duration> = ContinuousClock()
  /// What the work depends on; `nil` where that cannot be told now, which is no change.
  let state: @Sendable () async -> State?

  /// Until the task is cancelled. Work that ends by itself begins again with the next change.
  func run(_ work: @escaping @Sendable (State?) async -> Void) async {
    var known = await state()
    while !Task.isCancelled {
      let before = known
      known = await withTaskGroup(of: State?.self) { group in
        group.addTask {
          await work(before)
          return nil
        }
        group.addTask { await change(from: before) }
        defer { group.cancelAll() }
        for await next in group { if let next { return next } }
        return before
      }
    }
  }

  /// `nil` when the task is cancelled.
  private func change(from before: State?) async -> State? {
    while (try? await clock.sleep(for: interval)) != nil {
      if let now = await state(), now != before { return now }
    }
    return nil
  }
}

/// Counts how often somebody has asked for settings to be read again, as by SIGHUP.
public final class Reloads: Sendable {
  private let count = Mutex(0)

  public init() {}

  public func request() { count.withLock { $0 += 1 } }

  var current: Int { count.withLock(\.self) }
}
