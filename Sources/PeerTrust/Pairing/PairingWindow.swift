import Cryptography
import Foundation
import HealthModel
import PeerProtocol

/// An open pairing window, as returned to its opener.
public struct OpenWindow: Hashable, Sendable {
  /// The window's number, unique within the desk.
  public let number: Int
  /// The code to show on the local screen, and nowhere else.
  public let code: PairingCode
  /// The salt, 16 bytes; public.
  public let salt: [UInt8]
  /// The end of the window, by the server's clock.
  public let expiresAt: Date
}

/// A pairing window: one code at a time, five failures in total.
struct PairingWindow: Sendable {
  /// The window's number, unique within the desk; tells windows apart across a suspension.
  let number: Int
  let openedAt: Date
  let expiresAt: Date
  /// The scope of the client that pairs. If nil, a known client keeps its scope and a new client may read everything.
  let scope: SampleFilter?
  let opener: WindowOpener
  var secret: Secret

  /// The current code and the values derived from it.
  struct Secret: Sendable {
    let code: PairingCode
    let salt: [UInt8]
    /// The scalar w of SPAKE2. Its derivation starts with the code, so scrypt's 90 ms are over before the first
    /// client comes.
    let scalar: Task<Result<Scalar, P256Error>, Never>

    init(serverID: PeerID, derivation: @escaping PasswordScalar.Derivation) {
      let code = PairingCode.random()
      let salt = SecureRandom.bytes(PairingProtocol.saltByteCount)
      self.code = code
      self.salt = salt
      scalar = Task {
        do throws(P256Error) {
          return .success(try await derivation(code, salt, serverID))
        } catch {
          return .failure(error)
        }
      }
    }
  }

  /// Returns whether the window is open at a time. If the clock is set back, the window closes rather than stay open
  /// longer.
  func isLive(at now: Date) -> Bool { openedAt <= now && now < expiresAt }
}

/// A pairing attempt in flight. It reserves one attempt of the budget from its start to its end.
struct PairingAttempt: Sendable {
  let startedAt: Date
  /// The address group of the caller.
  let caller: String
  /// The client's statement about the certificate that it used before.
  let rotation: RotationStatement?
  /// The exchange, or nil while the server's share is being computed.
  var exchange: PairingServerExchange?

  func isLive(at now: Date, lifetime: TimeInterval) -> Bool {
    startedAt <= now && now < startedAt + lifetime
  }
}

/// The opener of a pairing window, always local to the server.
public enum WindowOpener: Hashable, Sendable {
  /// The terminal in which the server runs.
  case terminal
  /// A process of the server's owner, given by its process ID: `hpeer pair --wait`. Its window closes when it exits.
  case process(Int32)

  /// The process ID of the opener, or nil for the server's own terminal.
  public var process: Int32? {
    if case .process(let number) = self { number } else { nil }
  }
}
