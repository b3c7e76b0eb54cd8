import HealthModel
import HealthStore

/// Waits for something to be added to a record or deleted, and then for nothing more to come for a while.
///
/// The mark is the change number up to which everything was dealt with.
struct ChangeWatcher: AutomationWatcher {
  /// However much goes on coming, this many times the pause is enough.
  private static let mostPauses = 20

  let activity: String
  let types: Set<SampleType>?
  /// `nil` where nobody waits for more.
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
      // From here on.
      try await store.activities.setMark("\(anchor.change)", activity)
      return nil
    }
    guard mark != anchor.change else { return nil }
    // A counter that went back is that of a copy which was put in the store's place.
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
    // In this order: killed between the two, it is done once too often rather than not at all.
    try await store.activities.setDue(true, activity, now: time.now())
    try await store.activities.setMark("\(anchor.change)", activity)
    return .change
  }

  mutating func wait() async throws {
    try await store.feed.waitForChanges(after: seen)
  }
}
