import HealthStore
import PeerProtocol

/// Ends a pull whose peer sends the same changes again and again.
///
/// A feed has each change once, so of those that are here already no more can come than the store holds; a store is asked
/// how many that are when so many more have come since it was asked last.
struct RepeatedChanges {
  private let slack: Int
  private let readings: Int
  private var first = 0
  private var bound: Int

  /// - Parameter isApp: whether what is read is a phone's app: of a list that changes too much while it is read, all is
  ///   read again.
  init(_ limits: ClientLimits, isApp: Bool) {
    slack = limits.repeatedChanges
    readings = isApp ? 2 : 1
    bound = slack
  }

  /// The feed begins anew.
  mutating func reset(_ done: PullProgress) {
    (first, bound) = (done.unchanged, slack)
  }

  /// Throws ``PeerError/feed(_:)`` with `noProgress`.
  mutating func check(_ done: PullProgress, in store: HealthStore) async throws {
    let repeated = done.unchanged - first
    guard repeated > bound else { return }
    // What was deleted, or stands for another here, may come under two identities.
    bound = 2 * readings * (try await store.feed.expectedChanges(since: .zero, filter: .everything)) + slack
    guard repeated <= bound else { throw PeerError.feed(.noProgress) }
  }
}
