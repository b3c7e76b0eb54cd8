import Foundation
import PeerDiscovery
import PeerProtocol
import PeerTrust

/// A diagnosis of paired machines, any number at a time: where they are announced and were last reached, which server
/// listens there, and whether it still accepts this machine. It changes nothing here, but each access is recorded in
/// the other machine's audit log.
public actor PeerDiagnostics {
  /// A function that returns the machines announced on the network. Throws ``DiscoveryError``.
  package typealias Survey = @Sendable () async throws -> [DiscoveredPeer]

  /// The time to listen for announcements.
  public static let listening = Duration.seconds(3)
  /// The time limit for a TLS handshake with one address.
  private static let handshake = Duration.seconds(3)
  /// The number of seconds without a byte after which a machine is considered gone.
  private static let silence = 5
  /// The maximum number of announced addresses tried for one machine. A machine has fewer, but anyone on the network
  /// can announce more in its name.
  private static let maximumAddresses = 8

  private let identity: PeerIdentity?
  private let survey: Survey
  private var announcements: Task<Result<[DiscoveredPeer], any Error>, Never>?

  /// - Parameter identity: the identity whose certificate is shown; `nil` if this machine has no usable one.
  public init(identity: PeerIdentity?) {
    self.init(identity: identity) {
      DiscoveredPeer.group(try await ServiceBrowser().survey(for: Self.listening).services)
    }
  }

  package init(identity: PeerIdentity?, survey: @escaping Survey) {
    self.identity = identity
    self.survey = survey
  }

  /// Tests one machine. This takes some seconds, mostly for listening. Never throws: failures are part of the result.
  ///
  /// - Parameter asksOtherEnd: whether to ask the machine for its view of this one, for which it may connect back.
  public nonisolated func tryOut(_ server: ServerRecord, asksOtherEnd: Bool = false) async -> PeerDiagnosis {
    let remembered = PeerFinder.hint(of: server)
    // Its last address is tried at once, without waiting for announcements.
    async let known = Self.knock(remembered, of: server)
    var claimants: [DiscoveredPeer] = []
    var deafness: String?
    do {
      claimants = try await announced().filter {
        $0.id == server.id || DiscoveredPeer.isInstance($0.name, of: server.name)
      }
    } catch {
      deafness = "\(error)"
    }
    let announced = Set(claimants.flatMap(\.endpoints))
    let own = Set(claimants.filter { $0.id == server.id }.flatMap(\.endpoints) + remembered)
    var others: [PeerEndpoint] = []
    for endpoint in claimants.flatMap(\.endpoints) where !remembered.contains(endpoint) && !others.contains(endpoint) {
      others.append(endpoint)
    }
    let found = await Self.knock(Array(others.prefix(Self.maximumAddresses)), of: server)
    let addresses = (found + (await known)).map { knock in
      PeerDiagnosis.Address(
        knock.endpoint, isAnnounced: announced.contains(knock.endpoint), claimsID: own.contains(knock.endpoint),
        knock.outcome)
    }
    var trial = PeerDiagnosis(
      addresses: addresses.filter(\.isAnnounced) + addresses.filter { !$0.isAnnounced }, deafness: deafness)
    if let place = trial.addresses.first(where: { $0.outcome == .proven }) {
      trial.answer = await ask(server, at: place.endpoint, asksOtherEnd: asksOtherEnd)
    }
    return trial
  }

  /// Performs a handshake with one machine at its last known endpoint only, without sending a request. Takes some
  /// seconds at most.
  public static func wayBack(to server: ServerRecord) async -> PairingView.Following {
    guard let endpoint = PeerFinder.hint(of: server).first else { return .init(endpoint: nil, outcome: .untried) }
    let outcome: PairingView.Outcome =
      switch await outcome(at: endpoint, of: server) {
      case .proven: .reached
      case .unreachable: .unreachable
      case .notTLS: .notTLS
      case .otherCertificate: .otherCertificate
      }
    return .init(endpoint: endpoint.description, outcome: outcome)
  }

  /// Returns the announcements on the network. Listens only once, regardless of the number of machines.
  private func announced() async throws -> [DiscoveredPeer] {
    let announcements =
      announcements
      ?? Task { [survey] in
        do { return .success(try await survey()) } catch { return .failure(error) }
      }
    self.announcements = announcements
    return try await announcements.value.get()
  }

  private typealias Knock = (endpoint: PeerEndpoint, outcome: PeerDiagnosis.Outcome)

  /// Performs handshakes with all endpoints concurrently, without sending requests.
  private static func knock(_ endpoints: [PeerEndpoint], of server: ServerRecord) async -> [Knock] {
    await withTaskGroup(of: (Int, PeerDiagnosis.Outcome).self) { group in
      for (index, endpoint) in endpoints.enumerated() {
        group.addTask { (index, await outcome(at: endpoint, of: server)) }
      }
      var outcomes: [Int: PeerDiagnosis.Outcome] = [:]
      for await (index, outcome) in group { outcomes[index] = outcome }
      return endpoints.indices.compactMap { index in outcomes[index].map { (endpoints[index], $0) } }
    }
  }

  private static func outcome(at endpoint: PeerEndpoint, of server: ServerRecord) async -> PeerDiagnosis.Outcome {
    do {
      try await PeerConnection.withConnection(
        to: endpoint, trust: .pinned(server.fingerprint, peer: server.name), silenceLimit: silence,
        handshakeLimit: handshake
      ) { _ in }
      return .proven
    } catch PeerError.unreachable(_, let reason) {
      return .unreachable(reason)
    } catch PeerError.certificateChanged(_, _, let seen) {
      return .otherCertificate(seen)
    } catch PeerError.handshakeFailed(_, let reason) {
      return .notTLS(reason)
    } catch {
      return .notTLS("the connection broke")
    }
  }

  private nonisolated func ask(
    _ server: ServerRecord, at endpoint: PeerEndpoint, asksOtherEnd: Bool
  ) async -> Result<PeerDiagnosis.Statement, PeerError> {
    do {
      return try await PeerConnection.withConnection(
        to: endpoint, trust: .pinned(server.fingerprint, peer: server.name), identity: identity,
        silenceLimit: Self.silence, handshakeLimit: Self.handshake
      ) { connection in
        let asked = Date()
        let status = try await connection.status()
        let middle = asked.addingTimeInterval(Date().timeIntervalSince(asked) / 2)
        var statement = PeerDiagnosis.Statement(
          name: status.deviceName, version: status.version,
          clockLead: status.time.map { $0.rawValue - middle.timeIntervalSince1970 }, token: .untried)
        guard identity != nil else { return .success(statement) }
        // This must be the first request with the token, because its answer includes the time of the token's previous
        // use.
        if asksOtherEnd { statement.otherEnd = try await connection.otherEnd(of: server) }
        statement.token = try await Self.verdict(on: server, connection)
        return .success(statement)
      }
    } catch let error as PeerError {
      return .failure(error)
    } catch {
      return .failure(.connectionLost(endpoint: endpoint.description))
    }
  }

  private static func verdict(
    on server: ServerRecord, _ connection: PeerConnection
  ) async throws -> PeerDiagnosis.Verdict {
    let head = try await connection.send(
      .GET, Route.types, headers: [("Authorization", "Bearer \(server.credential.text)")])
    let raw = try await connection.body()
    return switch head.status.code {
    // Status 403 means that the token is valid but limited to daily values.
    case 200, 403: .accepted
    case 401: .refused
    case 423: .locked
    default: .unclear("\(connection.failure(status: Int(head.status.code), raw: raw))")
    }
  }
}
