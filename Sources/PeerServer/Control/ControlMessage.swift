import Foundation
import HealthModel
import PeerProtocol
import PeerTrust

/// What a local process asks of a running server, one JSON object on a line of the control socket.
public enum ControlRequest: Codable, Sendable, Hashable {
  /// Open a pairing window and report what happens to it; it closes when the connection does. A scope says what the machine
  /// that pairs may read; without one it is what a machine with its certificate may read already, or everything.
  case openWindow(scope: SampleFilter?)
  /// Close the window that is open, whoever opened it; answered with ``ControlEvent/closed(reason:)``, or with
  /// ``ControlEvent/state(_:)`` where none was open.
  case closeWindow
  /// Answered with ``ControlEvent/state(_:)``.
  case state
}

/// What the server answers, one JSON object a line, until the window is gone.
public enum ControlEvent: Codable, Sendable, Hashable {
  /// The code to show now, with the payload that a QR code carries. `name` is what this machine is announced as.
  case code(
    digits: String, uri: String, json: String, expiresAt: WireInstant, attemptsLeft: WireCount?, name: String? = nil)
  /// The window's code was used by a machine that calls itself so: hostile text.
  case paired(name: String)
  /// The window is gone: a ``PairingEvent/CloseReason``, `replaced` by another window, or the server has `stopped`.
  case closed(reason: String)
  /// The last attempt failed, and the window is gone.
  case locked
  /// The request could not be done.
  case failed(message: String)
  /// A machine at `address` wanted to pair, and could not because those at `holders` have begun and not finished.
  case keptOut(address: String, holders: [String])
  /// The answer to ``ControlRequest/state``.
  case state(ServerState)
}

/// What a running server is about. Holds no code.
public struct ServerState: Codable, Sendable, Hashable {
  /// The number of the server's process.
  public var process: Int32
  /// What the machine is announced as; `nil` if it is not.
  public var name: String?
  /// Whether a machine can pair now.
  public var window: Window

  /// The pairing window, without its code.
  public enum Window: Codable, Sendable, Hashable {
    /// Nobody has opened one, or it has ended.
    case closed
    /// Five wrong codes: until somebody opens another window.
    case locked
    /// A code is accepted.
    case open(OpenWindow)
  }

  /// What may be told of an open window.
  public struct OpenWindow: Codable, Sendable, Hashable {
    /// By the server's clock, which is this machine's.
    public var expiresAt: WireInstant
    /// Failures that are left before it locks.
    public var attemptsLeft: WireCount
    /// What the machine that pairs may read; `nil` for what it may read already, or everything.
    public var scope: SampleFilter?
    /// The process that opened the window; `nil` if it was opened at the server's own terminal.
    public var process: Int32?
  }
}
