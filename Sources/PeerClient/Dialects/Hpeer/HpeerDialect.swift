/// hpeer's own dialect: the change feed, as `docs/protocol/changes.md` describes it.
public struct HpeerDialect: PeerDialect {
  public static let name = "hpeer"

  let settings: PullSettings

  public init(_ settings: PullSettings) { self.settings = settings }

  /// Only an hpeer announces an id.
  public static func recognises(_ announcement: DiscoveredPeer) -> Bool { announcement.id != nil }

  /// One connection for all requests.
  public func withSession<Result: Sendable>(
    at endpoint: PeerEndpoint, _ body: (any PeerSession) async throws -> Result
  ) async throws -> Result {
    try await PeerConnection.withConnection(
      to: endpoint, trust: .pinned(settings.server.fingerprint, peer: settings.server.name),
      identity: settings.identity, silenceLimit: settings.silenceLimit, handshakeLimit: settings.handshakeLimit
    ) { connection in
      try await body(HpeerSession(settings: settings, connection: connection))
    }
  }
}
