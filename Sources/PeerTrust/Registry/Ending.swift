import Foundation
import PeerProtocol

/// Something between machines whose time is nearly up, or is up: a certificate or a token, of which a person should hear
/// while there is time to do something.
public struct Ending: Hashable, Sendable {
  /// What it is that ends.
  public enum Subject: Hashable, Sendable {
    /// This machine's own certificate. Peers pin it and do not look at its dates; others may.
    case identity
    /// The right of a machine that reads here.
    case client(PeerID)
    /// The right to read at a machine.
    ///
    /// - Parameter dialect: which protocol it speaks; see ``ServerRecord/dialect``.
    case server(PeerID, dialect: String)
  }

  public var subject: Subject
  /// Of the other machine, in its own words; `nil` for ``Subject/identity``.
  public var name: String?
  public var ends: Date

  /// A month: how long before its end a person hears of what is valid for long.
  public static let notice: TimeInterval = 30 * 86_400

  /// How long before its end, for what is valid for so many seconds from each use on: of what a use makes whole again, the
  /// last quarter, or all would seem to end that is used once a month.
  public static func notice(ofLifetime lifetime: TimeInterval) -> TimeInterval {
    lifetime > 0 ? min(notice, lifetime / 4) : notice
  }

  /// Whether its time is up.
  public func isOver(at now: Date) -> Bool { ends <= now }

  /// What has ended or ends soon, the first to end first.
  ///
  /// - Parameter identity: when this machine's certificate is valid; `nil` where there is none yet, or it does not say.
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
  /// `nil` while its right lasts for longer, and where it was taken back.
  public func ending(at now: Date) -> Ending? {
    guard revoked == nil, expires - Ending.notice(ofLifetime: tokenLifetime) <= now else { return nil }
    return Ending(subject: .client(id), name: name, ends: expires)
  }
}

extension ServerRecord {
  /// `nil` while the right to read there lasts for longer, and where that is not known.
  public func ending(at now: Date) -> Ending? {
    guard let expires else { return nil }
    // Of other apps' pairings the end is fixed when they are made.
    let lifetime = expires.timeIntervalSince(dialect == "hpeer" ? lastUsed ?? created : created)
    guard expires - Ending.notice(ofLifetime: lifetime) <= now else { return nil }
    return Ending(subject: .server(id, dialect: dialect), name: name, ends: expires)
  }
}
