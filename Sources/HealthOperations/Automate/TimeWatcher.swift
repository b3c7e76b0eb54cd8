import Foundation
import HealthModel
import HealthStore

/// Waits for a time of day, or until some time has passed since the last time. What was missed is made up once.
struct TimeWatcher: AutomationWatcher {
  /// The machine may be suspended, or its clock set: so often it is looked at.
  private static let longestSleep = Duration.seconds(30)

  let automation: Automation
  let context: AutomationContext
  let time: AutomationClock

  mutating func pending() async throws -> AutomationOccasion? {
    let state = try await context.store.activities.known(automation.activity, now: time.now())
    // Another process was killed at it.
    if let due = state.due { return .time(due) }
    guard let next = try await next(after: state), next <= time.now() else { return nil }
    try await context.store.activities.setDue(true, automation.activity, now: next)
    return .time(next)
  }

  mutating func wait() async throws {
    let state = try await context.store.activities.known(automation.activity, now: time.now())
    let now = time.now()
    guard let next = try await next(after: state) else { return }
    let left = Duration.microseconds(max(0, next.microseconds - now.microseconds))
    try await time.clock.sleep(for: min(left, Self.longestSleep))
  }

  private func next(after state: ActivityState) async throws -> Timestamp? {
    automation.nextTime(after: state, now: time.now(), in: try await context.zone())
  }
}

extension Automation {
  /// When it is to be done next; `nil` of one that waits for something else than a time.
  ///
  /// - Parameter state: `nil` of one that was never waited for: it begins now.
  public func nextTime(after state: ActivityState?, now: Timestamp, in zone: TimeZone) -> Timestamp? {
    // What lies ahead was written by a clock that has been put back.
    let last = min(state?.started ?? state?.created ?? now, now)
    switch trigger {
    case .interval(let seconds): return Timestamp(microseconds: last.microseconds + Int64(seconds) * 1_000_000)
    case .time(let times): return times.next(after: last, in: zone)
    default: return nil
    }
  }
}
