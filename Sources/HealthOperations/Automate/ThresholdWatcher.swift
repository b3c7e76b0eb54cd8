import Destinations
import HealthAnalysis
import HealthModel
import HealthStore

/// A watcher that waits for a value to cross a threshold. Its mark is the last position, so that only a crossing
/// counts. A value that is beyond the threshold at the first look has not crossed it.
struct ThresholdWatcher: AutomationWatcher {
  /// The minimum pause between two looks, because an import commits many times a second.
  private static let rest = Duration.seconds(1)
  /// The maximum pause between two looks, because a day's sum returns to zero without any change in the store.
  private static let longest = Duration.seconds(900)

  let activity: String
  let threshold: Threshold
  let store: HealthStore
  let time: AutomationClock
  private var seen = Anchor(change: 0)

  init(activity: String, threshold: Threshold, store: HealthStore, time: AutomationClock) {
    (self.activity, self.threshold, self.store, self.time) = (activity, threshold, store, time)
  }

  mutating func pending() async throws -> AutomationOccasion? {
    let state = try await store.activities.known(activity, now: time.now())
    seen = try await store.feed.currentAnchor()
    guard let number = try await number() else {
      // The first value of a record without any counts as a crossing if it is beyond the threshold.
      if state.mark == nil { try await store.activities.setMark(Threshold.Position.ready.rawValue, activity) }
      return nil
    }
    let occasion = AutomationOccasion.value(number, of: threshold.type, unit: threshold.unit)
    if state.due != nil { return occasion }
    let before = state.mark.flatMap(Threshold.Position.init)
    let position = threshold.position(of: number, before: before)
    guard position != before else { return nil }
    let hasCrossed = position == .crossed && before != nil
    // Due is set first: if the process is killed in between, the automation runs twice rather than never.
    if hasCrossed { try await store.activities.setDue(true, activity, now: time.now()) }
    try await store.activities.setMark(position.rawValue, activity)
    return hasCrossed ? occasion : nil
  }

  mutating func wait() async throws {
    let (seen, store, clock) = (seen, store, time.clock)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await store.feed.waitForChanges(after: seen) }
      group.addTask { try await clock.sleep(for: Self.longest) }
      defer { group.cancelAll() }
      try await group.next()
    }
    try await clock.sleep(for: Self.rest)
  }

  private func number() async throws -> Double? {
    let reader = RecordReader(
      store, filter: SampleFilter(types: [threshold.type]),
      zone: try ZoneRules(homeOf: try await store.settings.current()))
    return try await reader.currentValue(of: threshold.type, now: time.now()).flatMap(threshold.number)
  }
}
