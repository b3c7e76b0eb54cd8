import Foundation
import PeerProtocol

/// A server that this machine pulls from: a row of the table `server`.
public struct ServerRecord: Equatable, Sendable, Identifiable {
  public let id: PeerID
  /// The server's own words: never a key, and to be escaped before it is shown.
  public var name: String
  /// The certificate that connections to the server are pinned to.
  public var fingerprint: Fingerprint
  /// A secret; its description does not show it.
  public var credential: BearerCredential
  /// Which protocol the server speaks, in the client's words; `hpeer` for its own kind.
  public var dialect: String
  /// Where the server was last reached: a hint, no proof.
  public var host: String?
  /// Of ``host``; `nil` where none is known.
  public var port: UInt16?
  /// When this machine paired with it.
  public var created: Date
  /// When its credential was last accepted; `nil` for never.
  public var lastUsed: Date?
  /// When the credential dies, as far as is known.
  public var expires: Date?

  /// - Parameter dialect: see ``dialect``; checked by whoever connects.
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

  /// Until when the credential is valid after a use: each gives it the lifetime that it began with.
  public func expiry(usedAt date: Date) -> Date? {
    expires.map { date + $0.timeIntervalSince(lastUsed ?? created) }
  }

  /// The row for a server that has just been paired with.
  public init(_ server: PairedServer, name: String, host: String?, port: UInt16?, created: Date = Date()) {
    self.init(
      id: server.serverID, name: name, fingerprint: server.fingerprint, credential: BearerCredential(server.token),
      host: host, port: port, created: created, expires: server.expiresAt)
  }
}
