import Cryptography
import Foundation
import HealthModel
import PeerProtocol

/// A window as its opener sees it.
public struct OpenWindow: Hashable, Sendable {
  /// Tells this window from every other one of the desk.
  public let number: Int
  /// To be shown on the local screen, and nowhere else.
  public let code: PairingCode
  /// 16 bytes; public.
  public let salt: [UInt8]
  /// By the server's clock.
  public let expiresAt: Date
}

/// One local permission to pair: a code at a time, five failures in all.
struct PairingWindow: Sendable {
  /// Tells this window from every other one of the desk, also across a suspension.
  let number: Int
  let openedAt: Date
  let expiresAt: Date
  /// What the client that pairs may read; nil for what it may read already, or everything.
  let scope: SampleFilter?
  let opener: WindowOpener
  var secret: Secret

  /// The live code and what follows from it.
  struct Secret: Sendable {
    let code: PairingCode
    let salt: [UInt8]
    /// w of SPAKE2. Started with the code, so that scrypt's 90 ms are over before the first client comes.
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

  /// A clock that was set back closes the window rather than lengthen it.
  func isLive(at now: Date) -> Bool { openedAt <= now && now < expiresAt }
}

/// One attempt in flight. It reserves a unit of the budget from its start to its end.
struct PairingAttempt: Sendable {
  let startedAt: Date
  /// The address group that it came from.
  let caller: String
  /// What the client shows of the certificate that it had before.
  let rotation: RotationStatement?
  /// Nil while the server's share is being computed.
  var exchange: PairingServerExchange?

  func isLive(at now: Date, lifetime: TimeInterval) -> Bool {
    startedAt <= now && now < startedAt + lifetime
  }
}

/// Who opened a pairing window, always somebody at the server itself.
public enum WindowOpener: Hashable, Sendable {
  /// The terminal on which the server runs.
  case terminal
  /// A process of the server's owner, by its number: `hpeer pair --wait`. Its window closes when it ends.
  case process(Int32)

  /// Nil for the server's own terminal.
  public var process: Int32? {
    if case .process(let number) = self { number } else { nil }
  }
}
