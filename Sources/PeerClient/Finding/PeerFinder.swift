import PeerDiscovery
import PeerProtocol
import PeerTrust

/// The peer that a command addresses.
public enum PeerTarget: Sendable {
  /// A paired server, with its announced or last known endpoints; empty if none is known.
  case paired(ServerRecord, endpoints: [PeerEndpoint])
  /// A machine to pair with first. It chose its name, so treat the name as hostile text.
  case unpaired(name: String, endpoints: [PeerEndpoint])
}

/// A finder for the peer that a person means, among the paired servers and on the network.
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
  /// The time to listen for announcements before reporting that no peer was found.
  public static let patience = Duration.seconds(4)
  static let patienceSeconds = 4
  /// The time limit for a TLS handshake with one address, in seconds.
  private static let handshakeSeconds = 5
  /// The time limit for a handshake with the only known address, before others are searched for.
  static let firstHandshake = Duration.seconds(1)
  /// The maximum number of times that a peer may move between being found and being contacted.
  private static let maximumMoves = 3

  private let registry: PeerRegistry
  private let ownID: PeerID?
  let browser: ServiceBrowser
  private let otherAddresses = OtherAddresses()
  private let silenceLimit: Int
  private let firstHandshake: Duration
  /// Escapes names from the network for display in a terminal.
  private let escape: @Sendable (String) -> String

  /// - Parameters:
  ///   - ownID: the ID of this machine, which is never returned; `nil` while it has none.
  ///   - silenceLimit: the number of seconds without a byte after which a peer is considered gone.
  ///   - escape: escapes names from the network in error texts, such as `PlainText.escaped`.
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

  /// Listens to the network and returns what is announced, without this machine's own store.
  /// - Parameter name: an instance name to look for; its services are kept however many others there are.
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

  /// Returns the peers announced on the network, without this machine's own store.
  public func look(
    for duration: Duration = patience, preferring name: String? = nil,
    until isEnough: @escaping @Sendable (DiscoveredPeer) -> Bool = { _ in false }
  ) async throws -> [DiscoveredPeer] {
    try await survey(for: duration, preferring: name, until: isEnough).peers
  }

  /// Returns the peer that `name` means. Without a name, returns the only paired server, or the only announced peer.
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

  /// Returns the peer that `name` means. Prefers servers whose dialect hpeer speaks over others with the same name.
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

  /// Returns the peer at a given address. It counts as paired if its certificate or its last address is known.
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

  /// Returns the paired app that shows its certificate at the endpoint, or `nil`.
  private func phone(at endpoint: PeerEndpoint, among servers: [ServerRecord]) async -> ServerRecord? {
    guard servers.contains(where: \.traits.isApp) else { return nil }
    let seen = try? await ClientNetwork.current.shakeHands(
      endpoint, .anyForPairing, TransportProfile(leastTLS: .tls12), Self.handshakeSeconds)
    return servers.first { $0.traits.isApp && $0.fingerprint == seen }
  }

  /// Runs `attempt` with the peer's current endpoint: one of the known ones or an announced one. Only an endpoint
  /// that has shown the peer's certificate is used.
  public func reach<Result: Sendable>(
    _ server: ServerRecord, endpoints: [PeerEndpoint], _ attempt: (PeerEndpoint) async throws -> Result
  ) async throws -> (Result, PeerEndpoint) {
    try await search(for: server, endpoints: endpoints, failed: [:], attempt)
  }

  /// Runs `attempt` with the peer's current endpoint, without a separate handshake if only one endpoint is known. If
  /// the handshake there fails, takes too long or shows another certificate, searches for other endpoints.
  ///
  /// - Parameter attempt: must connect with the given time limit for the handshake, accept only the peer's
  ///   certificate, and before that do nothing that must not be repeated.
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
        // The endpoint has had its head start.
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
        // An answer tells more than the fact that no other endpoint was found. For an app, silence at its last port
        // means nothing because the port changes each time.
        if let advice = server.traits.advice {
          let (name, seconds) = (escape(server.name), Self.patienceSeconds)
          // Phones share names and addresses, so another certificate is no cause for alarm.
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

  /// Performs a TLS handshake with an endpoint that may be the server. Throws unless it shows the pinned certificate.
  private static func knock(_ server: ServerRecord, at endpoint: PeerEndpoint) async throws {
    let trust = CertificateTrust.pinned(server.fingerprint, peer: server.name)
    if let profile = server.traits.transport {
      _ = try await ClientNetwork.current.shakeHands(endpoint, trust, profile, handshakeSeconds)
    } else {
      try await PeerConnection.withConnection(to: endpoint, trust: trust, silenceLimit: handshakeSeconds) { _ in }
    }
  }

  /// Returns whether the error only means that the server could not be found.
  private static func isAbsence(_ error: any Error) -> Bool {
    switch error {
    case let error as PeerError: error.category == .unreachable
    case PeerFinderError.notFound: true
    default: false
    }
  }

  /// Reports the endpoints announced under the peer's ID or name. For an app, reports those under any name, because
  /// app names are not unique and change.
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
            // Apps announce no ID, so a service with the app's exact name may be it.
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

  /// Returns the endpoint at which the peer was last reached, if known.
  public static func hint(of server: ServerRecord) -> [PeerEndpoint] {
    guard let host = server.host, let port = server.port else { return [] }
    return [PeerEndpoint(host: host, port: Int(port))]
  }
}

extension PeerError {
  /// Whether the peer may be reachable at another address because this one may belong to another machine by now.
  var suggestsAnotherAddress: Bool { category == .unreachable || category == .certificateChanged }

  /// Whether the failure occurred before any request was sent.
  fileprivate var endsHandshake: Bool {
    if case .notHpeer = self { false } else { suggestsAnotherAddress }
  }
}
