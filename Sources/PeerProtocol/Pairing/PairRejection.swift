/// A reason why a server refuses a step of pairing. Both sides share the codes.
public enum PairRejection: Error, Hashable, Sendable {
  /// The proof failed, for whatever reason. The server already shows a new code.
  case wrongCode(attemptsLeft: Int)
  /// The pairing window is closed.
  case windowClosed
  /// Too many wrong codes: only a person at the server can open the window again.
  case windowLocked
  /// The session is unknown, expired or used, or its window is closed.
  case sessionExpired
  /// The session has already been finished with another confirmation.
  case sessionConflict
  /// The maximum number of concurrent attempts is reached.
  case tooManySessions
  /// The server speaks none of the client's versions.
  case unsupportedVersion
  /// The request is not a message of this protocol.
  case malformed
  /// The server could not store the pairing. The attempt was not consumed, so the same request may be sent again.
  case temporary

  /// The stable code in the JSON error body.
  public var code: String {
    switch self {
    case .wrongCode: "wrong_code"
    case .windowClosed: "window_closed"
    case .windowLocked: "window_locked"
    case .sessionExpired: "session_expired"
    case .sessionConflict: "session_conflict"
    case .tooManySessions: "too_many_sessions"
    case .unsupportedVersion: "unsupported_version"
    case .malformed: "malformed"
    case .temporary: "temporary"
    }
  }

  /// The HTTP status of the answer (RFC 9110; 423 is from WebDAV, RFC 4918).
  public var httpStatus: Int {
    switch self {
    case .wrongCode, .windowClosed: 403
    case .windowLocked: 423
    case .sessionExpired, .sessionConflict: 410
    case .tooManySessions: 429
    case .unsupportedVersion, .malformed: 400
    case .temporary: 503
    }
  }

  /// Creates a rejection from its ``code``, or returns `nil` for an unknown code.
  ///
  /// - Parameter attemptsLeft: used only for `wrong_code`.
  public init?(code: String, attemptsLeft: Int? = nil) {
    switch code {
    case "wrong_code": self = .wrongCode(attemptsLeft: max(0, attemptsLeft ?? 0))
    case "window_closed": self = .windowClosed
    case "window_locked": self = .windowLocked
    case "session_expired": self = .sessionExpired
    case "session_conflict": self = .sessionConflict
    case "too_many_sessions": self = .tooManySessions
    case "unsupported_version": self = .unsupportedVersion
    case "malformed": self = .malformed
    case "temporary": self = .temporary
    default: return nil
    }
  }
}

extension PairRejection: CustomStringConvertible {
  public var description: String {
    switch self {
    case .wrongCode(0):
      "The code was wrong and no attempts are left: open pairing again on the server itself."
    case .wrongCode(let attemptsLeft):
      "The code was wrong: try again with the new code on the server's screen (attempts left: \(attemptsLeft))."
    case .windowClosed:
      "The server is not accepting new devices: run 'hpeer pair --wait' on it, then try again."
    case .windowLocked:
      "Pairing is locked on the server after too many wrong codes: run 'hpeer pair --wait' on it, then try again."
    case .sessionExpired:
      "This pairing attempt took too long or was already used: start again."
    case .sessionConflict:
      "This pairing attempt was already finished differently: start again."
    case .tooManySessions:
      "Too many devices are pairing with the server at once: try again in a few seconds."
    case .unsupportedVersion:
      "The server does not speak this version of pairing: install the same hpeer on both machines."
    case .malformed:
      "The server could not read the pairing request: install the same hpeer on both machines."
    case .temporary:
      "The server could not store the pairing just now: try again."
    }
  }
}

/// The JSON body of a refused step: `{"success":false,"error":"wrong_code","attemptsLeft":4}`.
public struct PairErrorBody: Hashable, Sendable, Codable {
  /// Always false.
  public let success: Bool
  /// The ``PairRejection/code``, or another server's text.
  public let error: String
  /// The number of attempts left; present only with `wrong_code`.
  public let attemptsLeft: WireCount?

  /// Creates the body to send with ``PairRejection/httpStatus``.
  public init(_ rejection: PairRejection) {
    success = false
    error = rejection.code
    attemptsLeft = if case .wrongCode(let count) = rejection { WireCount(clamping: count) } else { nil }
  }

  /// The rejection, or nil if the error is not a pairing code.
  public var rejection: PairRejection? { PairRejection(code: error, attemptsLeft: attemptsLeft?.rawValue) }
}
