import PeerDiscovery
import PeerProtocol
import PeerTrust

/// Whom a command is about.
public enum PeerTarget: Sendable {
  case paired(ServerRecord, endpoints: [PeerEndpoint])
  case unpaired(name: String, endpoints: [PeerEndpoint])
}

/// Why nobody could be chosen. Each description is one sentence for a person.
public enum PeerFinderError: Error, Hashable, Sendable {
  /// Nothing answered within these seconds; other servers that were seen are named.
  case nobody(seconds: Int, others: [String])
  case notFound(name: String, seconds: Int, seen: [String])
  /// Several could be meant.
  case several([String], paired: Bool)
}

extension PeerFinderError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .nobody(let seconds, let others):
      "Nobody on this network offers a health record (listened for \(seconds) seconds on every interface)"
        + (others.isEmpty ? "" : "; seen, but not hpeer: \(others.joined(separator: ", "))")
        + ": start `hpeer serve` on the other machine, or name it with --host NAME:PORT."
    case .notFound(let name, let seconds, let seen):
      "\(name) was not found on this network within \(seconds) seconds"
        + (seen.isEmpty ? "" : " (seen: \(seen.joined(separator: ", ")))")
        + ": check that `hpeer serve` runs there, or name it with --host NAME:PORT."
    case .several(let names, let paired):
      paired
        ? "This machine is paired with several (\(names.joined(separator: ", "))): name one, or pull from all with --all."
        : "Several machines offer a health record (\(names.joined(separator: ", "))): name the one you mean."
    }
  }
}

/// Finds the peer that a person means, among the paired ones and on the network.
public struct PeerFinder: Sendable {
  /// How long to listen before saying that nobody is there.
  public static let patience = Duration.seconds(4)
  static let patienceSeconds = 4

  private let registry: PeerRegistry
  private let ownID: PeerID
  private let browser: ServiceBrowser
  private let silenceLimit: Int
  /// Makes names from the network fit for a terminal.
  private let escape: @Sendable (String) -> String

  public init(
    registry: PeerRegistry, ownID: PeerID, browser: ServiceBrowser = ServiceBrowser(),
    silenceLimit: Int = PeerConnection.silenceLimit, escape: @escaping @Sendable (String) -> String
  ) {
    self.registry = registry
    self.ownID = ownID
    self.browser = browser
    self.silenceLimit = silenceLimit
    self.escape = escape
  }

  /// The peers that are on the network now, this very store left out.
  public func look(
    for duration: Duration = patience, until isEnough: @escaping @Sendable (DiscoveredPeer) -> Bool = { _ in false }
  ) async throws -> [DiscoveredPeer] {
    let services = try await browser.snapshot(for: duration) { service in
      DiscoveredPeer.group([service]).contains(where: isEnough)
    }
    return DiscoveredPeer.group(services).filter { $0.id != ownID }
  }

  /// The peer that `name` means; without a name the only paired one, or the only one that there is.
  public func target(named name: String?) async throws -> PeerTarget {
    if let name { return try await target(called: name) }
    let servers = try await registry.servers()
    if servers.count > 1 { throw PeerFinderError.several(servers.map { escape($0.name) }, paired: true) }
    if let server = servers.first { return .paired(server, endpoints: Self.hint(of: server)) }
    let seen = try await look()
    let peers = seen.filter { $0.id != nil }
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
      let seen = try await look(until: { $0.matches(name) })
      guard let peer = seen.first(where: { $0.matches(name) }) else {
        throw PeerFinderError.notFound(
          name: escape(name), seconds: Self.patienceSeconds, seen: seen.map { escape($0.name) })
      }
      if let id = peer.id, let server = try await registry.server(id: id) {
        return .paired(server, endpoints: peer.endpoints)
      }
      return .unpaired(name: peer.name, endpoints: peer.endpoints)
    }
  }

  /// The peer at an address that the person gave: paired if its certificate or its last address is known.
  public func target(at endpoint: PeerEndpoint) async throws -> PeerTarget {
    let servers = try await registry.servers()
    if let server = servers.first(where: { $0.host == endpoint.host && $0.port.map(Int.init) == endpoint.port }) {
      return .paired(server, endpoints: [endpoint])
    }
    let session = try await PairingSession.open(at: endpoint, silenceLimit: silenceLimit)
    if let server = servers.first(where: { $0.id == session.hello.serverID }) {
      return .paired(server, endpoints: [endpoint])
    }
    return .unpaired(name: session.status.deviceName, endpoints: [endpoint])
  }

  /// Runs `attempt` with the first endpoint that can be reached: the known ones, then whatever the network says of this
  /// peer. Addresses that do not answer cost no more than a moment, however many there are.
  public func reach<Result: Sendable>(
    _ server: ServerRecord, endpoints: [PeerEndpoint], _ attempt: (PeerEndpoint) async throws -> Result
  ) async throws -> (Result, PeerEndpoint) {
    var failure: (any Error)?
    var untried = endpoints
    while let endpoint = await EndpointRace.winner(of: untried, within: Self.headStart) {
      untried.removeAll { $0 == endpoint }
      do {
        return (try await attempt(endpoint), endpoint)
      } catch let error as PeerError where error.suggestsAnotherAddress {
        failure = failure ?? error
      }
    }
    try Task.checkCancellation()
    var announced: [PeerEndpoint] = []
    do {
      announced = try await look(until: { $0.id == server.id }).filter { $0.id == server.id }.flatMap(\.endpoints)
        .filter { !endpoints.contains($0) }
    } catch let error as DiscoveryError {
      // Without mDNS only the known addresses are left, and what they answer is the better explanation.
      if untried.isEmpty { throw failure ?? error }
    }
    untried = announced + untried
    while let endpoint = await Self.next(of: untried, explaining: failure == nil) {
      untried.removeAll { $0 == endpoint }
      do {
        return (try await attempt(endpoint), endpoint)
      } catch let error as PeerError where error.suggestsAnotherAddress {
        // A certificate that changed at the address the peer announces is the news; a dead old address is not.
        failure = announced.contains(endpoint) ? error : failure ?? error
      }
    }
    throw failure
      ?? PeerFinderError.notFound(name: escape(server.name), seconds: Self.patienceSeconds, seen: [])
  }

  /// How long a known address has for itself before the network is asked for others.
  private static let headStart = Duration.seconds(1)
  /// How long an address may take to accept a connection.
  private static let connectLimit = Duration.seconds(5)

  /// The endpoint to try next: the first that answers. If none does, the first has to say why, unless there is a
  /// reason already.
  private static func next(of endpoints: [PeerEndpoint], explaining: Bool) async -> PeerEndpoint? {
    await EndpointRace.winner(of: endpoints, within: connectLimit) ?? (explaining ? endpoints.first : nil)
  }

  /// The endpoints that are worth an attempt, best first. If none answers, the first has to say why.
  public static func answering(_ endpoints: [PeerEndpoint]) async -> [PeerEndpoint] {
    guard endpoints.count > 1 else { return endpoints }
    guard let winner = await EndpointRace.winner(of: endpoints, within: connectLimit) else {
      return Array(endpoints.prefix(1))
    }
    return [winner] + endpoints.filter { $0 != winner }
  }

  /// Where the peer was last reached.
  public static func hint(of server: ServerRecord) -> [PeerEndpoint] {
    guard let host = server.host, let port = server.port else { return [] }
    return [PeerEndpoint(host: host, port: Int(port))]
  }
}

extension PeerError {
  /// The peer may be well, elsewhere: its address may belong to another machine by now.
  var suggestsAnotherAddress: Bool {
    switch self {
    case .unreachable, .handshakeFailed, .certificateChanged, .notHpeer: true
    default: false
    }
  }
}
