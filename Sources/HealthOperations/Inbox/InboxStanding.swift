import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerServer
import PeerTrust

/// How an inbox goes: what each app that may send has sent of late, and how long phones take its certificate.
public struct InboxStanding: Sendable {
  /// One app.
  public struct Sender: Sendable {
    public let name: String
    /// When it last showed its secret, at most a minute late; `nil` before.
    public let lastSeen: Date?
    /// When something new of it was last taken, as far as that is remembered.
    public let lastReceived: Timestamp?
    /// What was refused within ``InboxStanding/memory``; `nil` for nothing.
    public let refused: Refusals?

    /// Whether the last that it sent was refused, within a day, by more than a lock of this machine.
    public func isFailing(at now: Timestamp) -> Bool {
      guard let refused, refused.reason != "locked", now.seconds - refused.last.seconds < 86_400 else { return false }
      return lastReceived.map { $0 < refused.last } ?? true
    }
  }

  /// Bodies of one app that were not taken.
  public struct Refusals: Sendable {
    /// At least: of a flood, the latest are counted later.
    public var count: Int
    public var last: Timestamp
    /// Of the last, as the audit log has it.
    public var reason: String
  }

  /// What phones are shown.
  public enum Certificate: Sendable {
    case good(until: Date)
    /// It cannot be read, or is none. The reason is in the words of what failed.
    case unusable(reason: String)
  }

  /// How far back refusals are looked for, in seconds: a week.
  public static let memory: Int64 = 7 * 86_400
  /// Refusals that are looked at, the newest.
  private static let mostRefusals = 10_000

  /// Those whose right was not taken away, by name.
  public let senders: [Sender]
  /// `nil` where it is not known, or none is shown.
  public let certificate: Certificate?

  /// - Parameters:
  ///   - store: whose audit log has what was refused; `nil` where there is none yet.
  ///   - security: what phones are shown; `nil` where that is not known.
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
      // What was refused before its secret was made anew is over.
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
      // What the authority signs is renewed by itself.
      return (isOwn ? ends.last : ends.min()).map { .good(until: $0) }
    } catch {
      return .unusable(reason: "\(error)")
    }
  }
}
