/// Lets one through at a time, in no order.
package actor Turnstile {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init() {}

  /// Nobody waits longer than those before take, also where the task is cancelled: what they do ends then.
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
    // Whoever waits takes over: nobody comes in between.
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
  }
}
