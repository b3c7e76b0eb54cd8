import PeerProtocol
import PeerTrust

/// The dialect of an announced machine, as far as it can be determined without sending a secret.
public struct PeerSpeaker: Hashable, Sendable {
  /// The dialect's name; `nil` if hpeer does not speak it.
  public var dialect: String?
  /// Whether this machine is paired with it, judged by its ID, or by its certificate for an app.
  public var isPaired: Bool
  /// Whether it announces the ID of a paired machine but shows another certificate.
  public var isImpostor = false
}

extension PeerFinder {
  /// The maximum number of machines contacted, because anyone can announce a thousand.
  private static let mostAsked = 24
  /// The time limit for an answer of one machine.
  private static let askingTime = Duration.seconds(3)

  /// Returns the dialect of each of these machines, in their order, determined by its announcement, its certificate
  /// or its unauthenticated answers. Never throws: the dialect of a machine that does not answer is `nil`.
  public func speakers(among peers: [DiscoveredPeer], paired: [ServerRecord]) async -> [PeerSpeaker] {
    var speakers = peers.map { peer in
      PeerSpeaker(
        dialect: PeerDialects.dialect(of: peer)?.name,
        isPaired: peer.id.map { id in paired.contains { $0.id == id } } ?? false)
    }
    // Anyone can announce an ID. If the machine answers, its certificate proves the ID.
    let claimed = speakers.indices.filter { speakers[$0].isPaired }.prefix(Self.mostAsked)
    await withTaskGroup(of: (Int, Bool).self) { group in
      for index in claimed {
        let (endpoint, id) = (peers[index].endpoints[0], peers[index].id)
        let expected = paired.first { $0.id == id }?.fingerprint
        group.addTask {
          let seen = await Self.within(Self.askingTime) {
            try await ClientNetwork.current.shakeHands(
              endpoint, .anyForPairing, TransportProfile(leastTLS: .tls12), Int(Self.askingTime.components.seconds))
          }
          return (index, seen != nil && seen != expected)
        }
      }
      for await (index, isImpostor) in group where isImpostor {
        (speakers[index].isPaired, speakers[index].isImpostor) = (false, true)
      }
    }
    let open = speakers.indices.filter { speakers[$0].dialect == nil }.prefix(Self.mostAsked)
    await withTaskGroup(of: (Int, PeerSpeaker?).self) { group in
      for index in open {
        let endpoint = peers[index].endpoints[0]
        group.addTask {
          (index, await Self.within(Self.askingTime) { try await Self.speaker(at: endpoint, paired: paired) })
        }
      }
      for await (index, speaker) in group { if let speaker { speakers[index] = speaker } }
    }
    return speakers
  }

  /// Returns the dialect of the app that answers at one of these endpoints, as far as it can be determined without
  /// sending a secret. Returns `nil` for an hpeer, an unknown program or no answer. Never throws.
  public static func app(at endpoints: [PeerEndpoint]) async -> (any PeerDialect.Type)? {
    for endpoint in endpoints.prefix(4) {
      let speaker = await Self.within(Self.askingTime) { try await Self.speaker(at: endpoint, paired: []) }
      if let speaker, let dialect = speaker.dialect.flatMap(PeerDialects.dialect(named:)) {
        return dialect.traits.isApp ? dialect : nil
      }
    }
    return nil
  }

  private static func speaker(at endpoint: PeerEndpoint, paired: [ServerRecord]) async throws -> PeerSpeaker {
    let fingerprint = try await ClientNetwork.current.shakeHands(
      endpoint, .anyForPairing, TransportProfile(leastTLS: .tls12), Int(askingTime.components.seconds))
    if let server = paired.first(where: { $0.fingerprint == fingerprint }) {
      return PeerSpeaker(dialect: server.dialect, isPaired: true)
    }
    let greeting = ServerProbe(endpoint, trust: .pinned(fingerprint, peer: endpoint.description))
    return PeerSpeaker(dialect: try await PeerDialects.dialect(of: greeting)?.name, isPaired: false)
  }

  private static func within<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
  ) async -> Value? {
    await withTaskGroup(of: Value?.self) { group in
      group.addTask { try? await work() }
      group.addTask {
        try? await Task.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }
}
