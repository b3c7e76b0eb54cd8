import HealthModel
import PeerServer

/// The reasons why a pairing window closed without a pairing.
public enum PairingWindowError: Error, Hashable, Sendable {
  /// Five wrong codes were entered.
  case locked
  /// The window was closed.
  ///
  /// - Parameter reason: one word.
  case closed(reason: String)
  /// The server reported an error.
  ///
  /// - Parameter message: the server's text.
  case failed(message: String)
  /// The server hung up without reporting the end of the window: it was killed or crashed. Restart it to open a new
  /// window.
  case serverStopped
}

/// An operation that opens a pairing window on the server running on this machine, and waits until a machine has
/// paired. The window closes when the operation ends or is cancelled. The server writes the audit events.
public struct PairingWindowOperation: Sendable {
  private let socketPath: String
  private let scope: SampleFilter?

  /// Creates the operation.
  ///
  /// - Parameters:
  ///   - socketPath: ``Home/socketPath``.
  ///   - scope: what a machine that pairs may read; `nil` keeps its scope, or allows everything if it is new.
  public init(socketPath: String, scope: SampleFilter?) {
    self.socketPath = socketPath
    self.scope = scope
  }

  /// Opens the window and waits. Throws ``PairingWindowError``, or `ControlClient.NoServer` if no server is running.
  ///
  /// - Parameter tell: receives all events, including the codes. An error that it throws ends the operation.
  public func run(tell: (ControlEvent) async throws -> Void) async throws {
    var last: ControlEvent?
    try await ControlClient.openWindow(at: socketPath, scope: scope) { event in
      last = event
      try await tell(event)
    }
    switch last {
    case .paired: return
    case .locked: throw PairingWindowError.locked
    case .closed(let reason): throw PairingWindowError.closed(reason: reason)
    case .failed(let message): throw PairingWindowError.failed(message: message)
    case .code, .keptOut, .state, nil: throw PairingWindowError.serverStopped
    }
  }
}
