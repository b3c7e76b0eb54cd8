import HealthStore
import Synchronization

/// Has pulls into an empty store begin one after the other: whose record it becomes, the first decides, and only then
/// can the others be compared with it.
public final class FirstPullQueue: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [AsyncStream<Void>.Continuation] = []
  }

  private let state = Mutex(State())

  /// One for each store, shared by all pulls into it.
  public init() {}

  /// Waits as long as another pull has its turn. Throws `CancellationError` if the task is cancelled meanwhile.
  ///
  /// - Returns: what must be left when this pull has come to the end of what its peer has; `nil` where the store is not
  ///   empty, and all may pull at once.
  func take(for store: HealthStore) async throws -> Place? {
    while let left = takeOrWait() {
      for await _ in left {}
      try Task.checkCancellation()
    }
    let place = Place(turn: self)
    do {
      if try await store.isEmpty() { return place }
    } catch {
      place.leave()
      throw error
    }
    place.leave()
    return nil
  }

  /// What ends when whoever has the turn leaves it; `nil` for the turn.
  private func takeOrWait() -> AsyncStream<Void>? {
    state.withLock { state in
      guard state.isTaken else {
        state.isTaken = true
        return nil
      }
      let (left, ending) = AsyncStream.makeStream(of: Void.self)
      state.waiting.append(ending)
      return left
    }
  }

  private func end() {
    let waiting = state.withLock { state in
      defer { state = State() }
      return state.waiting
    }
    for ending in waiting { ending.finish() }
  }

  final class Place: Sendable {
    private let turn: Mutex<FirstPullQueue?>

    fileprivate init(turn: FirstPullQueue) {
      self.turn = Mutex(turn)
    }

    /// Lets the next pull begin. Calling it again has no effect.
    func leave() {
      let turn = turn.withLock { turn in
        defer { turn = nil }
        return turn
      }
      turn?.end()
    }
  }
}
