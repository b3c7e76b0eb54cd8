import Foundation
import PeerProtocol

/// A server that this machine pulls from: a row of the table `server`.
public struct ServerRecord: Equatable, Sendable, Identifiable {
  public let id: PeerID
  /// The name that the server gave itself. Untrusted text: never use it as a key, and escape it before it is shown.
  public var name: String
  /// The fingerprint of the certificate that connections to the server are pinned to.
  public var fingerprint: Fingerprint
  /// The secret credential. Its description does not show the secret.
  public var credential: BearerCredential
  /// The protocol that the server speaks; `hpeer` for hpeer's own protocol.
  public var dialect: String
  /// The host at which the server was last reached. Only a hint: it proves nothing about the server.
  public var host: String?
  /// The port on ``host``; `nil` if unknown.
  public var port: UInt16?
  /// The date of the pairing.
  public var created: Date
  /// The date at which the credential was last accepted, or `nil` if never.
  public var lastUsed: Date?
  /// The date at which the credential expires, or `nil` if unknown.
  public var expires: Date?

  /// Creates a record.
  ///
  /// - Parameter dialect: see ``dialect``; validated by the code that connects.
  public init(
    id: PeerID, name: String, fingerprint: Fingerprint, credential: BearerCredential, dialect: String = "hpeer",
    host: String? = nil, port: UInt16? = nil, created: Date = Date(), lastUsed: Date? = nil, expires: Date? = nil
  ) {
    self.id = id
    self.name = name
    self.fingerprint = fingerprint
    self.credential = credential
    self.dialect = dialect
    self.host = host
    self.port = port
    self.created = created
    self.lastUsed = lastUsed
    self.expires = expires
  }

  /// Returns the expiry of the credential after a use at `date`. Each use renews the credential for its original
  /// lifetime.
  public func expiry(usedAt date: Date) -> Date? {
    expires.map { date + $0.timeIntervalSince(lastUsed ?? created) }
  }

  /// Creates the record of a server that has just been paired.
  public init(_ server: PairedServer, name: String, host: String?, port: UInt16?, created: Date = Date()) {
    self.init(
      id: server.serverID, name: name, fingerprint: server.fingerprint, credential: BearerCredential(server.token),
      host: host, port: port, created: created, expires: server.expiresAt)
  }
}
