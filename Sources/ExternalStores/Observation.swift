import HealthStore
import OperatingSystem

/// A loop that executes an operation whenever a record has changed.
enum Observation {
  /// Executes an operation now and after each change, until the task is cancelled.
  ///
  /// - Parameters:
  ///   - clock: the clock for the pauses between failed attempts, which grow to a minute.
  ///   - isFinal: returns whether an error ends the loop. A `StoreError` always does.
  ///   - execute: processes the pending changes.
  static func run(
    on store: HealthStore, clock: any Clock<Duration>, isFinal: (any Error) -> Bool = { _ in false },
    execute: () async throws -> Void
  ) async throws {
    var backOff = BackOff(first: .seconds(1), longest: .seconds(60))
    while !Task.isCancelled {
      do {
        // Read the anchor first, so that changes during execution wake the loop at once.
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
