import HealthModel
import HealthStore

/// A watcher that waits for samples to be added or deleted, and then for a pause in the changes.
///
/// Its mark is the change number up to which everything was handled.
struct ChangeWatcher: AutomationWatcher {
  /// The maximum number of debounce pauses, if changes keep coming.
  private static let mostPauses = 20

  let activity: String
  let types: Set<SampleType>?
  /// The required pause; `nil` to not wait.
  let debounce: Duration?
  let store: HealthStore
  let time: AutomationClock
  private var seen = Anchor(change: 0)

  init(activity: String, types: Set<SampleType>?, debounce: Duration?, store: HealthStore, time: AutomationClock) {
    (self.activity, self.types, self.debounce, self.store, self.time) = (activity, types, debounce, store, time)
  }

  mutating func pending() async throws -> AutomationOccasion? {
    let state = try await store.activities.known(activity, now: time.now())
    if state.due != nil { return .change }
    var anchor = try await store.feed.currentAnchor()
    defer { seen = anchor }
    guard let mark = state.mark.flatMap({ Int64($0) }) else {
      // The first look counts as the starting point.
      try await store.activities.setMark("\(anchor.change)", activity)
      return nil
    }
    guard mark != anchor.change else { return nil }
    // A counter that went back belongs to a copy that has replaced the store.
    if mark < anchor.change {
      let new = try await store.feed.expectedChanges(since: Anchor(change: mark), filter: SampleFilter(types: types))
      guard new > 0 else {
        try await store.activities.setMark("\(anchor.change)", activity)
        return nil
      }
    }
    if let debounce {
      for _ in 0..<Self.mostPauses {
        try await time.clock.sleep(for: debounce)
        let now = try await store.feed.currentAnchor()
        if now == anchor { break }
        anchor = now
      }
    }
    // Due is set first: if the process is killed in between, the automation runs twice rather than never.
    try await store.activities.setDue(true, activity, now: time.now())
    try await store.activities.setMark("\(anchor.change)", activity)
    return .change
  }

  mutating func wait() async throws {
    try await store.feed.waitForChanges(after: seen)
  }
}
