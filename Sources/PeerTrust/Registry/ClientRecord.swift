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
  /// Unique: a request finds its client by it.
  public let tokenHash: TokenHash
  /// How it paired; another app's by `plain`.
  public let method: PairedClient.Method
  /// What it may read; ``SampleFilter/everything`` unless somebody narrowed it.
  public let scope: SampleFilter
  /// It may ask for numbers of whole days within that scope, and for nothing finer.
  public let isOnlyDaily: Bool
  /// When it last paired.
  public let created: Date
  /// The last use of the token, at most a minute late: not every use is written.
  public let lastSeen: Date?
  /// When the token dies unless it is used.
  public let expires: Date
  /// Seconds for which each use makes the token valid.
  public let tokenLifetime: TimeInterval
  /// When the owner took the token back; `nil` if nobody did.
  public let revoked: Date?
  /// The certificate that the client showed when it paired; `nil` if it showed none.
  public let certificateFingerprint: Fingerprint?
  /// The token is valid only together with that certificate.
  public let isBound: Bool
}

/// What a valid token entitles to.
public struct ClientAuthorization: Hashable, Sendable {
  /// See ``ClientRecord/id``.
  public let id: PeerID
  /// The client's own words: never a key, and to be escaped before it is shown.
  public var name: String
  /// The hash of the token that the request showed.
  public let tokenHash: TokenHash
  /// Other apps' clients pair by `plain`, and read dates differently.
  public let method: PairedClient.Method
  /// What the request may read.
  public let scope: SampleFilter
  /// See ``ClientRecord/isOnlyDaily``.
  public let isOnlyDaily: Bool
  /// The use of the token before this one; `nil` for the first.
  public let lastSeen: Date?
  /// The owner has locked this machine: nobody is answered, whatever they may read. See ``PeerRegistry/lock(now:)``.
  public let isLocked: Bool
}

/// Why a token is not accepted. Tell the client 401 for each; the audit log may know more.
public enum ClientRefusal: Error, Hashable, Sendable {
  /// `unknown`: no client has this token. `revoked`: the owner took it back. `expired`: it was not used for too long.
  case unknown, revoked, expired
  /// The token is bound to a client certificate, and the connection has another one or none: it was stolen, or its owner
  /// has a new certificate.
  case wrongCertificate(of: PeerID)
}
