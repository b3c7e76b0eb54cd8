import HealthStore
import OperatingSystem
import PeerDiscovery
import PeerProtocol

/// The retry policy of a followed peer: whether a failed pull is tried again, and after how long a pause.
struct PullRetry: Sendable {
  /// The minimum duration of a connection without new changes that counts as a success.
  private static let soon = Duration.seconds(10)
  /// The maximum pause that a server may request, in seconds.
  private static let longestAsked = 60

  private var backOff: BackOff

  init(_ backOff: BackOff = BackOff()) {
    self.backOff = backOff
  }

  /// Returns whether the error may go away with time: a network failure, a machine that is off, a store that another
  /// process is writing to. A refused token, another certificate, another person or a full disk does not.
  ///
  /// - Parameter isApp: whether the peer is an app on a phone. It is tried again when it appears, even after a
  ///   malformed answer or another certificate, unless its owner must act.
  static func mayHelp(after error: any Error, isApp: Bool = false) -> Bool {
    switch error {
    case let error as PeerError:
      error.category.mayPass || isApp && [.malformed, .certificateChanged].contains(error.category)
    case let error as PeerFinderError:
      switch error {
      case .notFound, .appNotFound, .anotherPhone: true
      case .nobody, .several, .sameName: false
      }
    case is DiscoveryError: true
    case StoreError.locked, StoreError.ownerChanged: true
    default: false
    }
  }

  /// Returns the pause before the next attempt. It grows with each failure and is never shorter than the server
  /// requests.
  mutating func pause(after error: any Error) -> Duration {
    var asked = Duration.zero
    if case PeerError.busy(let seconds?) = error { asked = .seconds(min(seconds, Self.longestAsked)) }
    return backOff.next(atLeast: asked)
  }

  /// Resets the backoff after a success. A connection that the peer soon ends without new changes does not count.
  mutating func succeeded(withNews: Bool, after elapsed: Duration) {
    if withNews || elapsed > Self.soon { backOff.reset() }
  }
}
