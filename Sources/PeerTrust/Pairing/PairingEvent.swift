import Foundation
import PeerProtocol

/// An event at the pairing desk, for the terminal and the audit log. No event holds a secret: a screen reads the code
/// from ``PairingCoordinator/currentCode``.
public enum PairingEvent: Hashable, Sendable {
  /// A window was opened. A window that was open before is replaced without an event of its own.
  case windowOpened(expiresAt: Date)
  /// The window was closed: no code is accepted any more.
  case windowClosed(CloseReason)
  /// The last attempt failed and the desk is locked. Only a local ``PairingCoordinator/open()`` unlocks it.
  case windowLocked
  /// The code was replaced; the previous code is no longer valid.
  case codeRotated(attemptsLeft: Int)
  /// A client has paired and has been stored. Its name is untrusted text.
  case succeeded(clientID: PeerID, name: String, method: PairedClient.Method)
  /// An attempt failed and was counted.
  case failed(FailureReason, attemptsLeft: Int)
  /// A client could not start or continue because other callers held all places. Nothing was tried or counted.
  ///
  /// - Parameters:
  ///   - caller: the address group of the caller.
  ///   - holders: the address groups that hold the places, sorted.
  case keptOut(caller: String, holders: [String])

  /// The reason why a window closed. The raw values appear in the audit log.
  public enum CloseReason: String, Hashable, Sendable {
    /// `expired`: its time was over. `closedLocally`: it was closed at the server. `paired`: its code was used.
    case expired, closedLocally, paired
    /// The process that opened the window has ended, so its code is no longer displayed.
    case openerGone
  }

  /// The reason for a failed attempt, for the server's owner. The client is told `wrong_code` in every case.
  public enum FailureReason: String, Hashable, Sendable {
    /// The client's confirmation, or the code of a plain pairing, was wrong.
    case wrongCode
    /// The client's share is not a point on the curve, or makes the shared key trivial.
    case invalidShare
  }
}
