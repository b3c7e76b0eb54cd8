import HealthStore
import Synchronization

/// Notices what other processes do to the positions of destinations: one is removed, goes back, or is asked to be delivered
/// again. That a position goes on is nothing new.
final class PositionWatch: Sendable {
  private struct State {
    var positions: [String: Anchor] = [:]
    var revision = 0
  }

  private let state = Mutex(State())

  /// Another number each time that something has been done since the last call.
  ///
  /// - Parameter found: of all consumers, by name.
  func revision(of found: [String: Anchor]) -> Int {
    state.withLock { state in
      // A request that is gone has been dealt with.
      let isLess = state.positions.contains { name, anchor in
        found[name].map { $0 < anchor } ?? !Resynchronization.isRequest(name)
      }
      // It stays until a delivery that begins has dealt with it, also where the position itself was never seen before.
      let isAsked = found.keys.contains { Resynchronization.isRequest($0) && state.positions[$0] == nil }
      if isLess || isAsked { state.revision += 1 }
      state.positions = found
      return state.revision
    }
  }
}
