import Foundation
import PeerProtocol

/// What happened at the pairing desk, for the terminal and the audit log. No event holds a secret: a screen asks
/// ``PairingDesk/currentCode``.
public enum PairingEvent: Hashable, Sendable {
  /// Codes are accepted from now on; a window that was open before has been replaced without an event of its own.
  case windowOpened(expiresAt: Date)
  /// No code is accepted any more.
  case windowClosed(CloseReason)
  /// The last attempt failed. Only a local ``PairingDesk/open()`` helps.
  case windowLocked
  /// The code on the screen is no longer valid; there is a new one.
  case codeRotated(attemptsLeft: Int)
  /// The client has been stored. The name is its own: hostile text.
  case succeeded(clientID: PeerID, name: String, method: PairedClient.Method)
  /// An attempt was counted.
  case failed(FailureReason, attemptsLeft: Int)
  /// A client could not begin, or not go on, because others had the places. Nothing was tried and nothing counted.
  ///
  /// - Parameters:
  ///   - caller: the address group that it called from.
  ///   - holders: the groups that the places are taken by, sorted.
  case keptOut(caller: String, holders: [String])

  /// Why a window is gone; the raw values stand in the audit log.
  public enum CloseReason: String, Hashable, Sendable {
    /// `expired`: its time was over. `closedLocally`: somebody at the server closed it. `paired`: its code was used.
    case expired, closedLocally, paired
    /// The process that opened the window has ended, so nobody sees its code any more.
    case openerGone
  }

  /// What was wrong, for the server's owner. The client is told `wrong_code` for each.
  public enum FailureReason: String, Hashable, Sendable {
    /// The client's confirmation, or the code of a plain pairing, was wrong.
    case wrongCode
    /// The client's share is no point of the curve, or makes the shared key trivial.
    case invalidShare
  }
}
