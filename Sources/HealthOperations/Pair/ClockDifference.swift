import Foundation
import PeerProtocol

/// That this machine's clock and another's disagree. Codes and tokens have dates: it explains what looks like an expired
/// one.
public struct ClockDifference: Hashable, Sendable {
  private static let tolerance = 120.0

  /// By how much this machine's is ahead.
  public let seconds: Double

  /// `nil` where both agree well enough, or the other machine does not say.
  public init?(_ status: StatusData) {
    guard let theirs = status.time else { return nil }
    seconds = Date().timeIntervalSince1970 - theirs.rawValue
    guard abs(seconds) > Self.tolerance else { return nil }
  }
}
