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
    let state = try await known()
    // Another process was killed at it.
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

  /// Where the clock has been put back, with a note of when that was noticed: else the time would begin anew at each look.
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
  /// When it is to be done next; `nil` of one that waits for something else than a time.
  ///
  /// - Parameter state: `nil` of one that was never waited for: it begins now.
  public func nextTime(after state: ActivityState?, now: Timestamp, in zone: TimeZone) -> Timestamp? {
    let last = state.flatMap { beginning(of: $0, now: now) } ?? now
    switch trigger {
    case .interval(let seconds): return Timestamp(microseconds: last.microseconds + Int64(seconds) * 1_000_000)
    case .time(let times): return times.next(after: last, in: zone)
    default: return nil
    }
  }

  /// From when on the time counts that has to pass; `nil` where all that is known lies ahead, because it was written by a
  /// clock that has been put back.
  func beginning(of state: ActivityState, now: Timestamp) -> Timestamp? {
    let last = state.started ?? state.created
    if last <= now { return last }
    // Clocks are put right by a little all the time, and a time of day that was dealt with must not come again by that.
    if case .time = trigger, last.microseconds - ClockPutBack.small < now.microseconds { return last }
    return ClockPutBack.noticed(in: state.mark).flatMap { $0 <= now ? $0 : nil }
  }
}

/// That a clock was found put back, as the state of an automation has it.
private enum ClockPutBack {
  /// An hour, in microseconds.
  static let small: Int64 = 3_600_000_000
  private static let prefix = "put-back:"

  static func mark(_ now: Timestamp) -> String { "\(prefix)\(now.microseconds)" }

  static func noticed(in mark: String?) -> Timestamp? {
    guard let mark, mark.hasPrefix(prefix) else { return nil }
    return Int64(mark.dropFirst(prefix.count)).map(Timestamp.init(microseconds:))
  }
}
