import Foundation
import HealthModel
import PeerProtocol

/// A client that has paired with this machine: a row of the table `client`.
public struct ClientRecord: Hashable, Sendable, Identifiable {
  public let id: PeerID
  /// What it was called before its certificate was replaced, or before its id was its certificate's: older events of the
  /// audit log name it so.
  public let formerID: PeerID?
  /// The client's own words: never a key, and to be escaped before it is shown.
  public let name: String
  public let tokenHash: TokenHash
  public let method: PairedClient.Method
  public let scope: SampleFilter
  public let created: Date
  /// At most a minute older than the truth.
  public let lastSeen: Date?
  public let expires: Date
  /// Seconds for which each use makes the token valid.
  public let tokenLifetime: TimeInterval
  public let revoked: Date?
  /// Of the certificate that the client showed when it paired.
  public let certificateFingerprint: Fingerprint?
  /// The token is valid only together with that certificate.
  public let isBound: Bool
}

/// What a valid token entitles to.
public struct ClientAuthorization: Hashable, Sendable {
  public let id: PeerID
  /// The client's own words: never a key, and to be escaped before it is shown.
  public var name: String
  public let tokenHash: TokenHash
  /// Other apps' clients pair by `plain`, and read dates differently.
  public let method: PairedClient.Method
  public let scope: SampleFilter
  public let lastSeen: Date?
}

/// Why a token is not accepted. Tell the client 401 for each; the audit log may know more.
public enum ClientRefusal: Error, Hashable, Sendable {
  case unknown, revoked, expired
  /// The token is bound to a client certificate, and the connection has another one or none: it was stolen, or its owner
  /// has a new certificate.
  case wrongCertificate(of: PeerID)
}
