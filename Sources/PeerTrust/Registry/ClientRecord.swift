import Foundation
import HealthModel
import PeerProtocol

/// A client that has paired with this machine: a row of the table `client`.
public struct ClientRecord: Hashable, Sendable, Identifiable {
  public let id: PeerID
  /// The client's previous id, from before its certificate was replaced or before ids were derived from certificates.
  /// Older events in the audit log use it.
  public let formerID: PeerID?
  /// The name that the client gave itself. Untrusted text: never use it as a key, and escape it before it is shown.
  public let name: String
  /// The hash of the client's token. Unique: a request's client is looked up by it.
  public let tokenHash: TokenHash
  /// The pairing method. Clients of other apps pair with `plain`.
  public let method: PairedClient.Method
  /// The samples that the client may read: ``SampleFilter/everything`` unless the owner narrowed it.
  public let scope: SampleFilter
  /// Whether the client may only request daily values within its scope, nothing finer.
  public let isOnlyDaily: Bool
  /// The date of the most recent pairing.
  public let created: Date
  /// The date of the token's last use, at most a minute late because not every use is written.
  public let lastSeen: Date?
  /// The date at which the token expires unless it is used before.
  public let expires: Date
  /// The time for which each use renews the token, in seconds.
  public let tokenLifetime: TimeInterval
  /// The date at which the owner revoked the token, or `nil` if it is not revoked.
  public let revoked: Date?
  /// The certificate that the client showed when it paired; `nil` if it showed none.
  public let certificateFingerprint: Fingerprint?
  /// Whether the token is only valid together with that certificate.
  public let isBound: Bool
}

/// The rights of a request with a valid token.
public struct ClientAuthorization: Hashable, Sendable {
  /// See ``ClientRecord/id``.
  public let id: PeerID
  /// The name that the client gave itself. Untrusted text: never use it as a key, and escape it before it is shown.
  public var name: String
  /// The hash of the token in the request.
  public let tokenHash: TokenHash
  /// The pairing method. Clients of other apps pair with `plain` and interpret dates differently.
  public let method: PairedClient.Method
  /// The samples that the request may read.
  public let scope: SampleFilter
  /// See ``ClientRecord/isOnlyDaily``.
  public let isOnlyDaily: Bool
  /// The date of the token's previous use, or `nil` if this is the first use.
  public let lastSeen: Date?
  /// Whether the owner has locked this machine. A locked machine answers no client, whatever its scope. See
  /// ``PeerRegistry/lock(now:)``.
  public let isLocked: Bool
}

/// The reason why a token is rejected. Answer the client with 401 in every case; the audit log may give the reason.
public enum ClientRefusal: Error, Hashable, Sendable {
  /// `unknown`: no client has this token. `revoked`: the owner took it back. `expired`: it was not used for too long.
  case unknown, revoked, expired
  /// The token is bound to a client certificate, and the connection has a different certificate or none: the token
  /// was stolen, or its owner has a new certificate.
  case wrongCertificate(of: PeerID)
}
