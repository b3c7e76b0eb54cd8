import HealthStore
import PeerProtocol

/// A limit that ends a pull if its peer sends the same changes again and again.
///
/// A feed has each change once, so no more known changes can arrive than the store holds. The store is asked for that
/// number only when as many known changes have arrived as it reported the last time.
struct RepeatGuard {
  private let slack: Int
  private let readings: Int
  private var first = 0
  private var bound: Int

  /// - Parameter isApp: whether the peer is a phone's app, whose list is read a second time if it changes too much
  ///   meanwhile.
  init(_ limits: ClientLimits, isApp: Bool) {
    slack = limits.repeatedChanges
    readings = isApp ? 2 : 1
    bound = slack
  }

  /// Restarts the count because the feed begins again.
  mutating func reset(_ done: PullProgress) {
    (first, bound) = (done.unchanged, slack)
  }

  /// Throws ``PeerError/feed(_:)`` with `noProgress` if too many known changes have arrived.
  mutating func check(_ done: PullProgress, in store: HealthStore) async throws {
    let repeated = done.unchanged - first
    guard repeated > bound else { return }
    // A deleted sample, or one that replaces another here, may arrive under two identities.
    bound = 2 * readings * (try await store.feed.expectedChanges(since: .zero, filter: .everything)) + slack
    guard repeated <= bound else { throw PeerError.feed(.noProgress) }
  }
}
