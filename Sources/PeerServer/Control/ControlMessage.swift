import Foundation

/// What a local process asks of a running server, one JSON object on a line of the control socket.
public enum ControlRequest: String, Codable, Sendable {
  /// Open a pairing window and report what happens to it.
  case openWindow
}

/// What the server answers, one JSON object a line, until the window is gone.
public enum ControlEvent: Codable, Sendable, Hashable {
  /// The code to show now, with the payload that a QR code carries.
  case code(digits: String, uri: String, json: String, expiresAt: Date, attemptsLeft: Int?)
  case paired(name: String)
  case closed(reason: String)
  case locked
  case failed(message: String)
}
