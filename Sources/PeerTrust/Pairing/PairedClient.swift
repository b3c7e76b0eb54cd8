import Cryptography
import Foundation
import HealthModel
import PeerProtocol

/// A client that has just proved that it knows the code: what the server must store before it answers.
public struct PairedClient: Hashable, Sendable {
  /// 30 days, in seconds.
  public static let defaultTokenLifetime: TimeInterval = 30 * 86_400

  /// How the client came to its token.
  public enum Method: String, Hashable, Sendable {
    /// `hpeer-pair/1`: the token was derived on both sides.
    case spake2
    /// The seed's `POST /api/v1/pair`: the token travelled inside pinned TLS.
    case plain
  }

  /// Derived from the certificate that the client showed, or random without one: never the client's choice.
  public let id: PeerID
  /// Chosen by the client: hostile text of 1 to 64 bytes.
  public let name: String
  /// What the client's requests will be known by.
  public let tokenHash: TokenHash
  /// Of the client's certificate, if it showed one. Its token is then valid only together with it.
  public let certificateFingerprint: Fingerprint?
  /// What the client shows of the certificate that it had before. Nobody has looked at it yet.
  public let rotation: RotationStatement?
  /// A `plain` client is another app's.
  public let method: Method
  /// By the server's clock.
  public let pairedAt: Date
  /// When the token dies unless it is used.
  public let expiresAt: Date
  /// Seconds for which each use of the token makes it valid.
  public let tokenLifetime: TimeInterval
  /// What whoever opened the window granted; nil for what a client with this certificate had before, or everything.
  public let scope: SampleFilter?

  /// Made by the ``PairingDesk`` alone; public for tests of what stores it.
  public init(
    id: PeerID, name: String, tokenHash: TokenHash, certificateFingerprint: Fingerprint? = nil,
    rotation: RotationStatement? = nil, method: Method, pairedAt: Date, expiresAt: Date,
    tokenLifetime: TimeInterval = defaultTokenLifetime, scope: SampleFilter? = nil
  ) {
    self.id = id
    self.name = name
    self.tokenHash = tokenHash
    self.certificateFingerprint = certificateFingerprint
    self.rotation = rotation
    self.method = method
    self.pairedAt = pairedAt
    self.expiresAt = expiresAt
    self.tokenLifetime = tokenLifetime
    self.scope = scope
  }
}

extension PeerID {
  /// What this server calls a client that showed this certificate when it paired, or none.
  static func ofClient(showing certificate: Fingerprint?) -> PeerID {
    certificate.map { PeerID(certificate: $0) } ?? SecureRandom.peerID()
  }
}

/// The answer to a plain pairing.
public struct PlainPairing: Equatable, Sendable {
  /// Random: the app that asks has no certificate.
  public let clientID: PeerID
  /// The only copy: the server keeps its hash.
  public let token: BearerToken
  /// When the token dies unless it is used.
  public let expiresAt: Date
}
