import HealthStore
import OperatingSystem
import PeerDiscovery
import PeerProtocol

/// What becomes of a followed peer that fails: whether the pull is tried again, and after how long a pause.
struct PullRetry: Sendable {
  /// What a connection without anything new must last to count as one.
  private static let soon = Duration.seconds(10)
  /// Maximum pause that a server may ask for, in seconds.
  private static let longestAsked = 60

  private var backOff: BackOff

  init(_ backOff: BackOff = BackOff()) {
    self.backOff = backOff
  }

  /// Whether the error may go away with time: a network, a machine that is off, a store that another process writes to. Not
  /// so a refused token, another certificate, another person, a full disk.
  ///
  /// - Parameter isApp: whether it is an app on a phone, which may be another version, or answer in its sleep, and is there
  ///   for minutes: it is tried again when it appears, but for what its owner must do.
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

  /// The pause before the next attempt: longer after each that failed, and never shorter than the server asks for.
  mutating func pause(after error: any Error) -> Duration {
    var asked = Duration.zero
    if case PeerError.busy(let seconds?) = error { asked = .seconds(min(seconds, Self.longestAsked)) }
    return backOff.next(atLeast: asked)
  }

  /// The peer is there: the next failure is another one. Not so where it hangs up each time with nothing new.
  mutating func succeeded(withNews: Bool, after elapsed: Duration) {
    if withNews || elapsed > Self.soon { backOff.reset() }
  }
}
