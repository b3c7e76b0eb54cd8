import Foundation
import PeerTrust

/// What a local process asks of a running server, one JSON object on a line of the control socket.
public enum ControlRequest: Codable, Sendable, Hashable {
  /// Open a pairing window and report what happens to it. A scope says what the machine that pairs may read; without one
  /// it is what that may read already, or everything.
  case openWindow(scope: PeerScope?)
}

/// What the server answers, one JSON object a line, until the window is gone.
public enum ControlEvent: Codable, Sendable, Hashable {
  /// The code to show now, with the payload that a QR code carries. `name` is what this machine is announced as.
  case code(digits: String, uri: String, json: String, expiresAt: Date, attemptsLeft: Int?, name: String? = nil)
  case paired(name: String)
  case closed(reason: String)
  case locked
  case failed(message: String)
}
