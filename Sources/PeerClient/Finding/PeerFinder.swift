import PeerDiscovery
import PeerProtocol
import PeerTrust

/// The peer that a command is about.
public enum PeerTarget: Sendable {
  /// A server that this machine is paired with, and where it was last or is announced; empty where neither is known.
  case paired(ServerRecord, endpoints: [PeerEndpoint])
  /// A machine that must be paired with first. The name is its own: hostile text.
  case unpaired(name: String, endpoints: [PeerEndpoint])
}

/// Finds the peer that a person means, among the paired ones and on the network.
///
/// ```swift
/// import HealthStore
///
/// func pull(from name: String, into store: HealthStore, _ registry: PeerRegistry, _ own: PeerIdentity) async throws {
///   let finder = PeerFinder(registry: registry, ownID: own.id, escape: { $0.debugDescription })
///   switch try await finder.target(named: name) {
///   case .unpaired(let name, _): throw PeerError.notPaired(peer: name)
///   case .paired(let server, let endpoints):
///     let (done, endpoint) = try await finder.reach(server, endpoints: endpoints) { endpoint in
///       try await Pull(into: store, from: server, at: endpoint, identity: own).run { _, _ in }
///     }
///     print("\(done.added) added from \(endpoint)")
///   }
/// }
/// ```
public struct PeerFinder: Sendable {
  /// How long to listen before saying that nobody is there.
  public static let patience = Duration.seconds(4)
  static let patienceSeconds = 4
  /// Within which an address must have answered a handshake.
  private static let handshakeSeconds = 5
  /// Within which the only address that is known must have shaken hands, before others are looked for.
  static let firstHandshake = Duration.seconds(1)
  /// How often a peer may move between being found and being spoken to.
  private static let maximumMoves = 3

  private let registry: PeerRegistry
  private let ownID: PeerID?
  let browser: ServiceBrowser
  private let otherAddresses = OtherAddresses()
  private let silenceLimit: Int
  private let firstHandshake: Duration
  /// Makes names from the network fit for a terminal.
  private let escape: @Sendable (String) -> String

  /// - Parameters:
  ///   - ownID: of this machine, which is never found; `nil` as long as it has none.
  ///   - silenceLimit: seconds without a byte after which a peer counts as gone.
  ///   - escape: makes names from the network fit for the errors' texts, such as `PlainText.escaped`.
  public init(
    registry: PeerRegistry, ownID: PeerID?, browser: ServiceBrowser = ServiceBrowser(),
    silenceLimit: Int = PeerConnection.silenceLimit, escape: @escaping @Sendable (String) -> String
  ) {
    self.init(
      registry: registry, ownID: ownID, browser: browser, silenceLimit: silenceLimit,
      firstHandshake: Self.firstHandshake, escape: escape)
  }

  init(
    registry: PeerRegistry, ownID: PeerID?, browser: ServiceBrowser = ServiceBrowser(),
    silenceLimit: Int = PeerConnection.silenceLimit, firstHandshake: Duration,
    escape: @escaping @Sendable (String) -> String
  ) {
    self.registry = registry
    self.ownID = ownID
    self.browser = browser
    self.silenceLimit = silenceLimit
    self.firstHandshake = firstHandshake
    self.escape = escape
  }

  /// What is on the network now, this very store left out.
  /// - Parameter name: an instance name that is looked for, and so found among however many others.
  public func survey(
    for duration: Duration = patience, preferring name: String? = nil,
    until isEnough: @escaping @Sendable (DiscoveredPeer) -> Bool = { _ in false }
  ) async throws -> PeerSurvey {
    let survey = try await browser.survey(
      for: duration, preferring: { instance in name.map { DiscoveredPeer.isInstance(instance, of: $0) } ?? false },
      until: { DiscoveredPeer.group([$0]).contains(where: isEnough) })
    let peers = DiscoveredPeer.group(survey.services).filter { $0.id == nil || $0.id != ownID }
    return PeerSurvey(
      peers: try await otherAddresses.completing(peers), crowded: survey.crowded, ignored: survey.ignored)
  }

  /// The peers that are on the network now, this very store left out.
  public func look(
    for duration: Duration = patience, preferring name: String? = nil,
    until isEnough: @escaping @Sendable (DiscoveredPeer) -> Bool = { _ in false }
  ) async throws -> [DiscoveredPeer] {
    try await survey(for: duration, preferring: name, until: isEnough).peers
  }

  /// The peer that `name` means; without a name the only paired one, or the only one that there is.
  public func target(named name: String?) async throws -> PeerTarget {
    if let name { return try await target(called: name) }
    let servers = try await registry.servers()
    if servers.count > 1 { throw PeerFinderError.several(servers.map { escape($0.name) }, paired: true) }
    if let server = servers.first { return .paired(server, endpoints: Self.hint(of: server)) }
    let seen = try await look()
    let peers = seen.filter(\.isUnderstood)
    if peers.count > 1 { throw PeerFinderError.several(peers.map { escape($0.name) }, paired: false) }
    guard let peer = peers.first else {
      throw PeerFinderError.nobody(seconds: Self.patienceSeconds, others: seen.map { escape($0.name) })
    }
    return .unpaired(name: peer.name, endpoints: peer.endpoints)
  }

  private func target(called name: String) async throws -> PeerTarget {
    do {
      let server = try await registry.server(matching: name)
      return .paired(server, endpoints: Self.hint(of: server))
    } catch PeerRegistryError.notFound {
      let seen = try await look(preferring: name, until: { $0.isUnderstood && $0.matches(name) })
      let peer = try choose(among: seen, called: name)
      if let id = peer.id, let server = try await registry.server(id: id) {
        return .paired(server, endpoints: peer.endpoints)
      }
      return .unpaired(name: peer.name, endpoints: peer.endpoints)
    }
  }

  /// The peer that `name` means. Something else than an hpeer is meant only where no hpeer goes by that name.
  func choose(among seen: [DiscoveredPeer], called name: String) throws(PeerFinderError) -> DiscoveredPeer {
    let namesakes = seen.filter { $0.matches(name) }
    let peers = namesakes.filter(\.isUnderstood)
    if peers.count > 1 {
      throw .sameName(escape(name), ids: peers.compactMap { $0.id?.short })
    }
    guard let peer = peers.first ?? namesakes.first else {
      throw .notFound(name: escape(name), seconds: Self.patienceSeconds, seen: seen.map { escape($0.name) })
    }
    return peer
  }

  /// The peer at an address that the person gave: paired if its certificate or its last address is known.
  public func target(at endpoint: PeerEndpoint) async throws -> PeerTarget {
    let servers = try await registry.servers()
    let last = servers.first { $0.host == endpoint.host && $0.port.map(Int.init) == endpoint.port }
    if let last, !last.traits.isApp { return .paired(last, endpoints: [endpoint]) }
    if let server = await phone(at: endpoint, among: servers) ?? last { return .paired(server, endpoints: [endpoint]) }
    let session = try await PairingSession.open(at: endpoint, silenceLimit: silenceLimit)
    if let server = servers.first(where: { $0.id == session.hello.serverID }) {
      return .paired(server, endpoints: [endpoint])
    }
    return .unpaired(name: session.status.deviceName, endpoints: [endpoint])
  }

  /// The paired app that shows its certificate there; `nil` for any other.
  private func phone(at endpoint: PeerEndpoint, among servers: [ServerRecord]) async -> ServerRecord? {
    guard servers.contains(where: \.traits.isApp) else { return nil }
    let seen = try? await ClientNetwork.current.shakeHands(
      endpoint, .anyForPairing, TransportProfile(leastTLS: .tls12), Self.handshakeSeconds)
    return servers.first { $0.traits.isApp && $0.fingerprint == seen }
  }

  /// Runs `attempt` with the endpoint where the peer is now: one of the known ones, or one that is announced. Only an
  /// endpoint that has shown the peer's certificate is used.
  public func reach<Result: Sendable>(
    _ server: ServerRecord, endpoints: [PeerEndpoint], _ attempt: (PeerEndpoint) async throws -> Result
  ) async throws -> (Result, PeerEndpoint) {
    try await search(for: server, endpoints: endpoints, failed: [:], attempt)
  }

  /// The same without a handshake just to see: the only endpoint that is known, if it is one, is tried for good. Others are
  /// looked for if nothing shakes hands there, with the peer's certificate, in time.
  ///
  /// - Parameter attempt: must connect with that time limit for the handshake, accept the peer's certificate only, and do
  ///   nothing before that may not be done twice.
  public func reach<Result: Sendable>(
    _ server: ServerRecord, endpoints: [PeerEndpoint],
    _ attempt: (PeerEndpoint, _ handshakeLimit: Duration?) async throws -> Result
  ) async throws -> (Result, PeerEndpoint) {
    var failed: [PeerEndpoint: PeerError] = [:]
    var headStart = PeerLocator.Limits().headStart
    if endpoints.count == 1, let endpoint = endpoints.first {
      do {
        return (try await attempt(endpoint, firstHandshake), endpoint)
      } catch let error as PeerError where error.endsHandshake {
        // It has had its time alone.
        headStart = .zero
      } catch let error as PeerError where error.suggestsAnotherAddress {
        failed[endpoint] = error
      }
    }
    return try await search(for: server, endpoints: endpoints, failed: failed, headStart: headStart) {
      try await attempt($0, nil)
    }
  }

  private func search<Result: Sendable>(
    for server: ServerRecord, endpoints: [PeerEndpoint], failed: [PeerEndpoint: PeerError],
    headStart: Duration = PeerLocator.Limits().headStart, _ attempt: (PeerEndpoint) async throws -> Result
  ) async throws -> (Result, PeerEndpoint) {
    var limits = PeerLocator.Limits()
    limits.headStart = headStart
    let locator = PeerLocator(
      server: server, limits: limits,
      probe: { endpoint in try await Self.knock(server, at: endpoint) },
      hear: { [browser, otherAddresses] in await Self.hear(of: server, from: browser, otherAddresses, $0) })
    var failed = failed
    while true {
      let endpoint: PeerEndpoint
      do {
        endpoint = try await locator.locate(known: endpoints, excluding: Set(failed.keys))
      } catch let error where !(error is CancellationError) {
        // What answered says more than that nobody else was found, or that nobody could be looked for. An app has another
        // port each time, so that nothing at the last one says nothing.
        if let advice = server.traits.advice {
          let (name, seconds) = (escape(server.name), Self.patienceSeconds)
          // All phones have one name, and addresses go from one to the next: another certificate is no alarm there.
          let answered = [error as? PeerError].compactMap(\.self) + failed.values
          if answered.contains(where: { $0.category == .certificateChanged }) {
            throw PeerFinderError.anotherPhone(name: name, advice: advice, seconds: seconds)
          }
          if Self.isAbsence(error) {
            throw PeerFinderError.appNotFound(name: name, advice: advice, seconds: seconds)
          }
        }
        if let failure = failed.values.first { throw failure }
        guard case PeerFinderError.notFound(let name, let seconds, let seen) = error else { throw error }
        throw PeerFinderError.notFound(name: escape(name), seconds: seconds, seen: seen)
      }
      do {
        return (try await attempt(endpoint), endpoint)
      } catch let error as PeerError where error.suggestsAnotherAddress && failed.count < Self.maximumMoves {
        failed[endpoint] = error
      }
    }
  }

  /// Shakes hands with what may be the server.
  private static func knock(_ server: ServerRecord, at endpoint: PeerEndpoint) async throws {
    let trust = CertificateTrust.pinned(server.fingerprint, peer: server.name)
    if let profile = server.traits.transport {
      _ = try await ClientNetwork.current.shakeHands(endpoint, trust, profile, handshakeSeconds)
    } else {
      try await PeerConnection.withConnection(to: endpoint, trust: trust, silenceLimit: handshakeSeconds) { _ in }
    }
  }

  /// Whether nothing more is known than that the server is nowhere.
  private static func isAbsence(_ error: any Error) -> Bool {
    switch error {
    case let error as PeerError: error.category == .unreachable
    case PeerFinderError.notFound: true
    default: false
    }
  }

  /// Addresses that are announced under the peer's id or name; those of apps, whose names are everybody's and change, under
  /// any name.
  private static func hear(
    of server: ServerRecord, from browser: ServiceBrowser, _ otherAddresses: OtherAddresses,
    _ heard: @escaping @Sendable (PeerLocator.Hearing) -> Void
  ) async {
    await withTaskGroup(of: Void.self) { lookups in
      var hosts: Set<String> = []
      do {
        let isApp = server.traits.isApp
        for try await event in browser.events(preferring: { DiscoveredPeer.isInstance($0, of: server.name) }) {
          switch event {
          case .listening: heard(.listening)
          case .found(let service):
            let peer = DiscoveredPeer(service)
            // An app has no id to announce, and who has its whole name may be it.
            let claimsID = isApp ? peer.id == nil && peer.name == server.name : peer.id == server.id
            guard claimsID || DiscoveredPeer.isInstance(peer.name, of: server.name) || isApp && peer.id == nil else {
              continue
            }
            for endpoint in peer.endpoints { heard(.candidate(endpoint, claimsID: claimsID)) }
            guard hosts.count < OtherAddresses.mostHosts, hosts.insert(service.hostName).inserted else { continue }
            lookups.addTask {
              guard let complete = try? await otherAddresses.completing([peer]).first else { return }
              for endpoint in complete.endpoints { heard(.candidate(endpoint, claimsID: claimsID)) }
            }
          default: continue
          }
        }
      } catch {
        heard(.failed(error))
      }
      lookups.cancelAll()
    }
  }

  /// Where the peer was last reached.
  public static func hint(of server: ServerRecord) -> [PeerEndpoint] {
    guard let host = server.host, let port = server.port else { return [] }
    return [PeerEndpoint(host: host, port: Int(port))]
  }
}

extension PeerError {
  /// Whether the peer may be well at another address: this one may belong to another machine by now.
  var suggestsAnotherAddress: Bool { category == .unreachable || category == .certificateChanged }

  /// Whether the failure came before any request was sent.
  fileprivate var endsHandshake: Bool {
    if case .notHpeer = self { false } else { suggestsAnotherAddress }
  }
}
