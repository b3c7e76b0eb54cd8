import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerServer
import PeerTrust

/// The state of an inbox: the recent activity of each sender, and the validity of the certificate.
public struct InboxStatus: Sendable {
  /// The state of one sender.
  public struct Sender: Sendable {
    public let name: String
    /// The time at which the sender last authenticated, up to a minute late; `nil` if it never did.
    public let lastSeen: Date?
    /// The time at which new samples were last received, if that is still known.
    public let lastReceived: Timestamp?
    /// The refusals within ``InboxStatus/memory``; `nil` if there were none.
    public let refused: Refusals?

    /// Returns whether the last body was refused, within a day and not because this machine was locked.
    public func isFailing(at now: Timestamp) -> Bool {
      guard let refused, refused.reason != "locked", now.seconds - refused.last.seconds < 86_400 else { return false }
      return lastReceived.map { $0 < refused.last } ?? true
    }
  }

  /// The refused bodies of one sender.
  public struct Refusals: Sendable {
    /// The minimum number of refusals; in a flood, the latest are counted with a delay.
    public var count: Int
    public var last: Timestamp
    /// The reason for the last refusal, as in the audit log.
    public var reason: String
  }

  /// The state of the certificate that phones are shown.
  public enum Certificate: Sendable {
    case good(until: Date)
    /// The certificate cannot be read or used; the underlying error's message.
    case unusable(reason: String)
  }

  /// The age limit for refusals, in seconds: a week.
  public static let memory: Int64 = 7 * 86_400
  /// The maximum number of refusals that are read, newest first.
  private static let mostRefusals = 10_000

  /// The senders that are not revoked, by name.
  public let senders: [Sender]
  /// The state of the certificate; `nil` if it is unknown or the inbox shows none.
  public let certificate: Certificate?

  /// Reads the state.
  ///
  /// - Parameters:
  ///   - store: its audit log records refusals; `nil` if there is none yet.
  ///   - security: the inbox's security; `nil` if unknown.
  public init(
    of home: Home, _ registry: PeerRegistry, _ store: HealthStore?, _ security: InboxSettings.Security?,
    now: Timestamp = .now
  ) async throws {
    let received = try await registry.inboxLastReceived()
    let since = Timestamp(seconds: now.seconds - Self.memory)
    let events = try await store?.audit.latest(.inboxRefused, since: since, limit: Self.mostRefusals) ?? []
    var refused: [String: Refusals] = [:]
    for event in events {
      guard let name = event.detail["sender"] else { continue }
      let unwritten = event.detail["alsoRefused"].flatMap { UInt32($0) } ?? 0
      let count = (refused[name]?.count ?? 0) + 1 + Int(unwritten)
      refused[name] = Refusals(count: count, last: event.time, reason: event.detail["reason"] ?? "unknown")
    }
    senders = try await registry.inboxSenders().filter { $0.revoked == nil }.map { sender in
      // Refusals from before the sender's secret was renewed no longer count.
      Sender(
        name: sender.name, lastSeen: sender.lastSeen, lastReceived: received[sender.name],
        refused: refused[sender.name].flatMap {
          Double($0.last.microseconds) / 1e6 < sender.created.timeIntervalSince1970 ? nil : $0
        })
    }
    certificate = senders.isEmpty ? nil : await Self.certificate(of: home, security)
  }

  private static func certificate(of home: Home, _ security: InboxSettings.Security?) async -> Certificate? {
    let source: InboxCertificates.Source
    var isOwn = false
    switch security {
    case .proxied, .insecure, nil: return nil
    case .files(let certificate, let key):
      source = InboxCertificateSource.files(certificate: certificate, key: key)
    case .ownAuthority:
      guard InboxAuthority.exists(in: home.url) else { return nil }
      (source, isOwn) = (InboxCertificateSource.authority(of: home), true)
    }
    do {
      let ends = try await source(nil)?.ends() ?? []
      // Certificates of the own authority are renewed automatically, so its own expiry counts.
      return (isOwn ? ends.last : ends.min()).map { .good(until: $0) }
    } catch {
      return .unusable(reason: "\(error)")
    }
  }
}
