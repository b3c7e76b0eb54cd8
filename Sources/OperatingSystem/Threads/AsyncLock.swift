/// A lock for asynchronous work: one operation at a time, in no guaranteed order.
package actor AsyncLock {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init() {}

  /// Runs `body` when its turn comes. A cancelled task still waits for its turn, but its predecessors are usually
  /// cancelled, too, and end soon; it then throws without running `body`.
  package nonisolated func pass<Result: Sendable>(
    _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    await enter()
    do {
      try Task.checkCancellation()
      let result = try await body()
      await leave()
      return result
    } catch {
      await leave()
      throw error
    }
  }

  private func enter() async {
    if !isTaken {
      isTaken = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  private func leave() {
    // The first waiting task takes over directly, so no newcomer can overtake it.
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
  }
}
