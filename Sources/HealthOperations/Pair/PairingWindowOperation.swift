import HealthModel
import PeerServer

/// Why a window went without anyone having paired.
public enum PairingWindowError: Error, Hashable, Sendable {
  /// Five wrong codes.
  case locked
  /// - Parameter reason: one word.
  case closed(reason: String)
  /// - Parameter message: what the server says.
  case failed(message: String)
  /// The server hung up without saying what has become of the window: it was killed, or has crashed. Once it runs
  /// again, a new window can be opened.
  case serverStopped
}

/// Opens a pairing window on the server that runs on this machine, and waits until somebody has paired. The window is
/// gone with this at the latest: cancelled, nobody has paired. The server writes the audit events.
public struct PairingWindowOperation: Sendable {
  private let socketPath: String
  private let scope: SampleFilter?

  /// - Parameters:
  ///   - socketPath: ``Home/socketPath``.
  ///   - scope: what a machine that pairs may read; `nil` for what it may read already, or everything.
  public init(socketPath: String, scope: SampleFilter?) {
    self.socketPath = socketPath
    self.scope = scope
  }

  /// Throws ``PairingWindowError``, or `ControlClient.NoServer` where none runs.
  ///
  /// - Parameter tell: told what happens, the codes too; what it throws ends this.
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
