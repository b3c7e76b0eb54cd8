/// Why a server refuses a step of pairing. Both sides share the codes.
public enum PairRejection: Error, Hashable, Sendable {
  /// The proof failed, whatever was wrong with it. The code on the server's screen is already another one.
  case wrongCode(attemptsLeft: Int)
  /// No window is open.
  case windowClosed
  /// Too many failures: only someone at the server can open the window again.
  case windowLocked
  /// The session is unknown, too old, used up, or its window is gone.
  case sessionExpired
  /// The session has already been finished with another confirmation.
  case sessionConflict
  /// As many attempts are in flight as the budget allows.
  case tooManySessions
  /// None of the client's versions is spoken here.
  case unsupportedVersion
  /// The request is not a message of this protocol.
  case malformed
  /// The server could not store the pairing. Nothing was used up; the same request may be sent again.
  case temporary

  /// The stable name in the JSON error body.
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

  /// The status of the answer (RFC 9110; 423 is WebDAV's, RFC 4918).
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

  /// Reads ``code``; `nil` for one that pairing does not have.
  ///
  /// - Parameter attemptsLeft: only read for `wrong_code`.
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
  /// ``PairRejection/code``, or another server's words.
  public let error: String
  /// Present with `wrong_code`.
  public let attemptsLeft: WireCount?

  /// The body to send with ``PairRejection/httpStatus``.
  public init(_ rejection: PairRejection) {
    success = false
    error = rejection.code
    attemptsLeft = if case .wrongCode(let count) = rejection { WireCount(clamping: count) } else { nil }
  }

  /// Nil if the error is none of pairing's.
  public var rejection: PairRejection? { PairRejection(code: error, attemptsLeft: attemptsLeft?.rawValue) }
}
