import Cryptography
import Foundation
import HealthModel
import PeerProtocol

/// A client that has proved that it knows the code. The server must store it before answering.
public struct PairedClient: Hashable, Sendable {
  /// The default token lifetime: 30 days, in seconds.
  public static let defaultTokenLifetime: TimeInterval = 30 * 86_400

  /// The pairing protocol by which a client obtained its token.
  public enum Method: String, Hashable, Sendable {
    /// `hpeer-pair/1`: both sides derive the token.
    case spake2
    /// HealthAppTransfer's `POST /api/v1/pair`: the token travels inside pinned TLS.
    case plain
  }

  /// The client's id, derived from its certificate, or random without one. The client cannot choose it.
  public let id: PeerID
  /// The client's name for itself: untrusted text of 1 to 64 bytes.
  public let name: String
  /// The hash of the token that authenticates the client's requests.
  public let tokenHash: TokenHash
  /// The fingerprint of the client's certificate, if it showed one. Its token is then only valid with that
  /// certificate.
  public let certificateFingerprint: Fingerprint?
  /// The client's statement about the certificate that it used before, not yet verified.
  public let rotation: RotationStatement?
  /// The pairing method; `plain` is only used by other apps.
  public let method: Method
  /// The date of the pairing, by the server's clock.
  public let pairedAt: Date
  /// The date at which the token expires unless it is used before.
  public let expiresAt: Date
  /// The time for which each use renews the token, in seconds.
  public let tokenLifetime: TimeInterval
  /// The scope granted when the window was opened. If nil, a client known by its certificate keeps its scope, and a
  /// new client may read everything.
  public let scope: SampleFilter?

  /// Creates a paired client. Only the ``PairingCoordinator`` needs this; it is public for tests of the code that stores
  /// clients.
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
  /// Returns the id for a client that showed this certificate while pairing; a random id for nil.
  static func ofClient(showing certificate: Fingerprint?) -> PeerID {
    certificate.map { PeerID(certificate: $0) } ?? SecureRandom.peerID()
  }
}

/// The answer to a plain pairing.
public struct PlainPairing: Equatable, Sendable {
  /// The random id of the client: the app has no certificate to derive it from.
  public let clientID: PeerID
  /// The only copy of the token: the server keeps its hash.
  public let token: BearerToken
  /// The date at which the token expires unless it is used before.
  public let expiresAt: Date
}
