import Foundation
import PeerProtocol
import PeerTrust

/// What whoever waits for another machine may want to know beside the outcome.
public enum PeerNotice: Sendable {
  /// It calls itself otherwise than before.
  case renamed(ServerRecord, to: String)
  /// Said where that may be why the other machine refuses this one.
  case clocksDiffer(ClockDifference)
  /// The code was refused, and by this machine's clock it was over so many seconds ago: which clock is right is not known.
  case codeLooksOld(seconds: Double)
  /// Two machines answer under its name and with its identity, in turns.
  case twins(ServerRecord, TwinSighting)
  /// This machine was restored from a backup, and has now heard from everybody what was deleted since: it answers again.
  case broughtUpToDate
  /// The other machine shows a new code now.
  case wrongCode(peer: String, attemptsLeft: Int)
}

/// That this machine's clock and another's disagree. Codes and tokens have dates: it explains what looks like an expired
/// one.
public struct ClockDifference: Hashable, Sendable {
  private static let tolerance = 120.0

  /// By how much this machine's is ahead.
  public let seconds: Double

  /// `nil` where both agree well enough.
  init?(lead seconds: Double) {
    guard abs(seconds) > Self.tolerance else { return nil }
    self.seconds = seconds
  }

  /// `nil` where both agree well enough, or the other machine does not say.
  init?(_ status: StatusData) {
    guard let theirs = status.time else { return nil }
    seconds = Date().timeIntervalSince1970 - theirs.rawValue
    guard abs(seconds) > Self.tolerance else { return nil }
  }
}
