import Foundation
import PeerProtocol

/// A certificate or token that has expired or expires soon, so that the owner can be warned in time.
public struct Ending: Hashable, Sendable {
  /// The kind of thing that expires.
  public enum Subject: Hashable, Sendable {
    /// This machine's own certificate. Peers pin it and ignore its dates; other software may check them.
    case identity
    /// The token of a client that reads from this machine.
    case client(PeerID)
    /// The credential that this machine uses to read from a server.
    ///
    /// - Parameter dialect: the server's protocol; see ``ServerRecord/dialect``.
    case server(PeerID, dialect: String)
  }

  public var subject: Subject
  /// The name that the other machine gave itself; `nil` for ``Subject/identity``.
  public var name: String?
  public var ends: Date

  /// The longest time before an ending at which it is announced: 30 days, in seconds.
  public static let notice: TimeInterval = 30 * 86_400

  /// Returns how far ahead of its end a right with this lifetime is announced, in seconds.
  ///
  /// That is the last quarter of the lifetime, but at most ``notice``: each use renews the right, and with a longer
  /// notice a right that is used once a month would always seem about to expire.
  public static func notice(ofLifetime lifetime: TimeInterval) -> TimeInterval {
    lifetime > 0 ? min(notice, lifetime / 4) : notice
  }

  /// Returns whether the end is reached.
  public func isOver(at now: Date) -> Bool { ends <= now }

  /// Returns everything that has expired or expires soon, ordered by end date.
  ///
  /// - Parameter identity: the validity of this machine's certificate; `nil` if there is no certificate or it states
  ///   no dates.
  public static func soon(
    identity: DateInterval?, clients: [ClientRecord], servers: [ServerRecord], now: Date
  ) -> [Ending] {
    var endings: [Ending] = []
    if let identity, identity.end - notice <= now { endings.append(Ending(subject: .identity, ends: identity.end)) }
    endings += clients.compactMap { $0.ending(at: now) } + servers.compactMap { $0.ending(at: now) }
    return endings.sorted { $0.ends < $1.ends }
  }
}

extension ClientRecord {
  /// Returns the client's ending, or `nil` if the token is revoked or does not expire soon.
  public func ending(at now: Date) -> Ending? {
    guard revoked == nil, expires - Ending.notice(ofLifetime: tokenLifetime) <= now else { return nil }
    return Ending(subject: .client(id), name: name, ends: expires)
  }
}

extension ServerRecord {
  /// Returns the server's ending, or `nil` if the credential does not expire soon or its expiry is unknown.
  public func ending(at now: Date) -> Ending? {
    guard let expires else { return nil }
    // The expiry of other apps' credentials is fixed at pairing; using them does not extend it.
    let lifetime = expires.timeIntervalSince(dialect == "hpeer" ? lastUsed ?? created : created)
    guard expires - Ending.notice(ofLifetime: lifetime) <= now else { return nil }
    return Ending(subject: .server(id, dialect: dialect), name: name, ends: expires)
  }
}
