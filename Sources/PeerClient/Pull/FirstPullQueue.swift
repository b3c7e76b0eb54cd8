import HealthStore
import Synchronization

/// A queue that lets pulls into an empty store begin one after the other. The first determines whose record the store
/// holds, and only then can the others be compared with it.
public final class FirstPullQueue: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [AsyncStream<Void>.Continuation] = []
  }

  private let state = Mutex(State())

  /// Creates a queue. All pulls into one store must share one queue.
  public init() {}

  /// Waits while another pull has its turn. Throws `CancellationError` if the task is cancelled meanwhile.
  ///
  /// - Returns: the place, which the pull must leave when its peer has nothing more; `nil` if the store is not empty,
  ///   so that all pulls may run at once.
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

  /// Takes the turn and returns `nil`, or returns a stream that ends when the current turn does.
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
