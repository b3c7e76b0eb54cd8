import Foundation
import PeerProtocol
import PeerTrust

/// A remark about another machine that a person may want to know in addition to the outcome.
public enum PeerNotice: Sendable {
  /// The server has changed its name.
  case renamed(ServerRecord, to: String)
  /// The clocks differ, which may be why the other machine refuses this one.
  case clocksDiffer(ClockDifference)
  /// The code was refused, and by this machine's clock it had expired this many seconds ago. Either clock may be
  /// wrong.
  case codeLooksOld(seconds: Double)
  /// Two machines answer alternately under this name and with this identity.
  case twins(ServerRecord, ClonedIdentity)
  /// This machine was restored from a backup and has now pulled later deletions from all servers, so it serves again.
  case broughtUpToDate
  /// The code was wrong, and the other machine shows a new code now.
  case wrongCode(peer: String, attemptsLeft: Int)
}

/// A difference between this machine's clock and another's. It explains why a code or token looks expired.
public struct ClockDifference: Hashable, Sendable {
  private static let tolerance = 120.0

  /// The number of seconds by which this machine's clock is ahead.
  public let seconds: Double

  /// Returns `nil` if the difference is at most two minutes.
  init?(lead seconds: Double) {
    guard abs(seconds) > Self.tolerance else { return nil }
    self.seconds = seconds
  }

  /// Returns `nil` if the difference is at most two minutes, or the other machine does not report its time.
  init?(_ status: StatusData) {
    guard let theirs = status.time else { return nil }
    seconds = Date().timeIntervalSince1970 - theirs.rawValue
    guard abs(seconds) > Self.tolerance else { return nil }
  }
}
