import Foundation
import HealthModel
import PeerProtocol
import PeerTrust

/// A request of a local process to a running server, sent as one line of JSON over the control socket.
public enum ControlRequest: Codable, Sendable, Hashable {
  /// Opens a pairing window and reports its events; it closes with the connection. The scope limits what the paired
  /// machine may read. Without a scope, a machine with a known certificate keeps its scope, and any other may read
  /// everything.
  case openWindow(scope: SampleFilter?)
  /// Closes the open window, regardless of which process opened it. The answer is ``ControlEvent/closed(reason:)``,
  /// or ``ControlEvent/state(_:)`` if no window was open.
  case closeWindow
  /// Requests the server's state; the answer is ``ControlEvent/state(_:)``.
  case state
}

/// An answer of the server, sent as one line of JSON. Events of a window follow until it closes.
public enum ControlEvent: Codable, Sendable, Hashable {
  /// The code to show now, with the payload for a QR code. `name` is the name that this machine announces.
  case code(
    digits: String, uri: String, json: String, expiresAt: WireInstant, attemptsLeft: WireCount?, name: String? = nil)
  /// A machine paired with the code. It chose its name, so treat the name as hostile text.
  case paired(name: String)
  /// The window closed: a ``PairingEvent/CloseReason``, `replaced` by another window, or the server has `stopped`.
  case closed(reason: String)
  /// The last attempt failed and the window closed.
  case locked
  /// The request failed.
  case failed(message: String)
  /// A machine at `address` could not start pairing because unfinished attempts from `holders` use up the limit.
  case keptOut(address: String, holders: [String])
  /// The answer to ``ControlRequest/state``.
  case state(ServerState)
}

/// The state of a running server, without any code.
public struct ServerState: Codable, Sendable, Hashable {
  /// The process ID of the server.
  public var process: Int32
  /// The name that the machine announces, or `nil` if it announces none.
  public var name: String?
  /// The state of the pairing window.
  public var window: Window

  /// The pairing window, without its code.
  public enum Window: Codable, Sendable, Hashable {
    /// No window is open.
    case closed
    /// Five wrong codes locked pairing until a person opens another window.
    case locked
    /// A code is accepted.
    case open(OpenWindow)
  }

  /// The public properties of an open window.
  public struct OpenWindow: Codable, Sendable, Hashable {
    /// The end of the window by this machine's clock.
    public var expiresAt: WireInstant
    /// The number of attempts left before the window locks.
    public var attemptsLeft: WireCount
    /// The filter of what the paired machine may read; `nil` keeps the scope of a known certificate and allows
    /// everything otherwise.
    public var scope: SampleFilter?
    /// The process that opened the window, or `nil` if it was opened in the server's own terminal.
    public var process: Int32?
  }
}
