import HealthModel
import HealthStore
import OperatingSystem

/// A type that detects when an automation must run. Its state is in the store, so that another process can continue.
protocol AutomationWatcher {
  /// Returns the reason to run the automation now, or `nil` if there is none.
  mutating func pending() async throws -> AutomationOccasion?

  /// Returns when there may be a reason. Throws `CancellationError`.
  mutating func wait() async throws

  /// Notes that a run for this reason begins. If the end is never noted, the process was killed.
  ///
  /// - Returns: a function that withdraws the note after a cancellation, which says nothing about the reason.
  func begins(_ occasion: AutomationOccasion) async throws -> @Sendable () async throws -> Void

  /// Notes that a run for this reason has ended, with or without success.
  mutating func dealtWith(_ occasion: AutomationOccasion, failure: (any Error)?) async throws

  /// Returns whether there is another reason that need not wait for a retry of the failed one.
  func hasOther() async throws -> Bool

  /// Returns whether a retry would fail in the same way, so that there is none.
  static func isFinal(_ failure: any Error) -> Bool
}

extension AutomationWatcher {
  func begins(_ occasion: AutomationOccasion) async throws -> @Sendable () async throws -> Void { {} }
  func hasOther() async throws -> Bool { false }
  static func isFinal(_ failure: any Error) -> Bool { false }
  mutating func dealtWith(_ occasion: AutomationOccasion, failure: (any Error)?) async throws {}
}

extension AutomationTrigger.Kind {
  /// Whether a failed run is retried soon. The other triggers occur again by themselves.
  var retries: Bool {
    switch self {
    case .change, .threshold, .file: true
    case .interval, .time, .peer: false
    }
  }
}

/// The clock and the current time, which tests replace.
struct AutomationClock: Sendable {
  var clock: any Clock<Duration> = ContinuousClock()
  var now: @Sendable () -> Timestamp = { .now }
}

extension Automation {
  /// Returns the watcher for the automation's trigger.
  ///
  /// - Parameter waits: whether a service waits for reasons. Otherwise each is asked once, without debouncing.
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
