import Foundation
import HealthModel
import HealthStore

/// A watcher that waits for a time of day or for an interval. If several times were missed, the automation runs once.
struct TimeWatcher: AutomationWatcher {
  /// The maximum sleep between two looks at the clock, because the machine may be suspended or its clock set.
  private static let longestSleep = Duration.seconds(30)

  let automation: Automation
  let context: AutomationContext
  let time: AutomationClock

  mutating func pending() async throws -> AutomationOccasion? {
    let state = try await known()
    // A killed process had begun this run.
    if let due = state.due { return .time(due) }
    guard let next = try await next(after: state), next <= time.now() else { return nil }
    try await context.store.activities.setDue(true, automation.activity, now: next)
    return .time(next)
  }

  mutating func wait() async throws {
    let state = try await known()
    let now = time.now()
    guard let next = try await next(after: state) else { return }
    let left = Duration.microseconds(max(0, next.microseconds - now.microseconds))
    try await time.clock.sleep(for: min(left, Self.longestSleep))
  }

  /// Returns the state of the automation. If the clock was set back, notes the time at which that was noticed;
  /// otherwise the interval would begin again at each look.
  private func known() async throws -> ActivityState {
    let now = time.now()
    var state = try await context.store.activities.known(automation.activity, now: now)
    guard automation.beginning(of: state, now: now) == nil else { return state }
    state.mark = ClockPutBack.mark(now)
    try await context.store.activities.setMark(state.mark, automation.activity, now: now)
    return state
  }

  private func next(after state: ActivityState) async throws -> Timestamp? {
    automation.nextTime(after: state, now: time.now(), in: try await context.zone())
  }
}

extension Automation {
  /// Returns the time of the next run, or `nil` if the trigger is not a time.
  ///
  /// - Parameter state: `nil` if the automation was never waited for; then the time begins now.
  public func nextTime(after state: ActivityState?, now: Timestamp, in zone: TimeZone) -> Timestamp? {
    let last = state.flatMap { beginning(of: $0, now: now) } ?? now
    switch trigger {
    case .interval(let seconds): return Timestamp(microseconds: last.microseconds + Int64(seconds) * 1_000_000)
    case .time(let times): return times.next(after: last, in: zone)
    default: return nil
    }
  }

  /// Returns the time from which the interval or time of day counts, or `nil` if all known times are in the future
  /// because the clock was set back.
  func beginning(of state: ActivityState, now: Timestamp) -> Timestamp? {
    let last = state.started ?? state.created
    if last <= now { return last }
    // Clocks are often corrected by a little, and that must not repeat a time of day that was handled.
    if case .time = trigger, last.microseconds - ClockPutBack.small < now.microseconds { return last }
    return ClockPutBack.noticed(in: state.mark).flatMap { $0 <= now ? $0 : nil }
  }
}

/// The note in an automation's state that the clock was set back.
private enum ClockPutBack {
  /// The difference up to which a correction is ignored for times of day: an hour, in microseconds.
  static let small: Int64 = 3_600_000_000
  private static let prefix = "put-back:"

  static func mark(_ now: Timestamp) -> String { "\(prefix)\(now.microseconds)" }

  static func noticed(in mark: String?) -> Timestamp? {
    guard let mark, mark.hasPrefix(prefix) else { return nil }
    return Int64(mark.dropFirst(prefix.count)).map(Timestamp.init(microseconds:))
  }
}
