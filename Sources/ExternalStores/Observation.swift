import HealthStore
import OperatingSystem

/// Does something whenever a record has changed, until the task is cancelled.
enum Observation {
  /// - Parameters:
  ///   - clock: on which a failed attempt waits for the next: pauses that grow to a minute.
  ///   - isFinal: whether an error ends it. One of the record's does in any case.
  ///   - execute: deals with what is new.
  static func run(
    on store: HealthStore, clock: any Clock<Duration>, isFinal: (any Error) -> Bool = { _ in false },
    execute: () async throws -> Void
  ) async throws {
    var backOff = BackOff(first: .seconds(1), longest: .seconds(60))
    while !Task.isCancelled {
      do {
        // Before: what happens meanwhile wakes it at once.
        let anchor = try await store.feed.currentAnchor()
        try await execute()
        backOff.reset()
        try await store.feed.waitForChanges(after: anchor)
      } catch {
        if Task.isCancelled { return }
        if error is StoreError || isFinal(error) { throw error }
        try? await clock.sleep(for: backOff.next())
      }
    }
  }
}
