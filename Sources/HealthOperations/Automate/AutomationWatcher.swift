import HealthModel
import HealthStore
import OperatingSystem

/// Finds out when an automation is to be done. What it must know the next time is in the store, so that it goes on where
/// another process has stopped.
protocol AutomationWatcher {
  /// Why it is to be done now; `nil` where there is no reason.
  mutating func pending() async throws -> AutomationOccasion?

  /// Returns when there may be a reason. Throws `CancellationError`.
  mutating func wait() async throws

  /// Takes note that something is being done for this reason now: where it never ends, the process has ended.
  ///
  /// - Returns: takes that back, if it is stopped, which says nothing of the reason.
  func begins(_ occasion: AutomationOccasion) async throws -> @Sendable () async throws -> Void

  /// Takes note that something was done for this reason, well or not.
  mutating func dealtWith(_ occasion: AutomationOccasion, failure: (any Error)?) async throws

  /// Whether there is another reason than the one that has just failed, which need not wait for it.
  func hasOther() async throws -> Bool

  /// Whether the same would fail in the same way again, so that it is not tried again.
  static func isFinal(_ failure: any Error) -> Bool
}

extension AutomationWatcher {
  func begins(_ occasion: AutomationOccasion) async throws -> @Sendable () async throws -> Void { {} }
  func hasOther() async throws -> Bool { false }
  static func isFinal(_ failure: any Error) -> Bool { false }
  mutating func dealtWith(_ occasion: AutomationOccasion, failure: (any Error)?) async throws {}
}

extension AutomationTrigger.Kind {
  /// Whether what has failed is tried again soon. The others come again by themselves.
  var retries: Bool {
    switch self {
    case .change, .threshold, .file: true
    case .interval, .time, .peer: false
    }
  }
}

/// The time, which tests may make.
struct AutomationClock: Sendable {
  var clock: any Clock<Duration> = ContinuousClock()
  var now: @Sendable () -> Timestamp = { .now }
}

extension Automation {
  /// - Parameter waits: whether somebody waits for reasons; else each is asked for once, and what needs waiting for is no
  ///   reason.
  func watcher(_ context: AutomationContext, _ time: AutomationClock, waits: Bool) -> any AutomationWatcher {
    switch trigger {
    case .change(let types, let debounce):
      ChangeWatcher(
        activity: activity, types: types, debounce: waits ? debounce : nil, store: context.store, time: time)
    case .interval, .time:
      TimeWatcher(automation: self, context: context, time: time)
    case .peer(let name): AppearanceWatcher(name: name, context: context)
    case .threshold(let threshold):
      ThresholdWatcher(activity: activity, threshold: threshold, store: context.store, time: time)
    case .file(let folder): FolderWatcher(activity: activity, folder: folder, store: context.store, time: time)
    }
  }
}
