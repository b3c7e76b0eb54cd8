import Cryptography
import Foundation
import HealthModel
import HealthStore
import Logging
import OperatingSystem
import ServiceLifecycle
import PeerClient
import PeerProtocol
import PeerServer

@testable import PeerTrust

/// A server that runs on loopback with everything of its own, as `hpeer serve` puts it together.
struct TestServer: Sendable {
  static let name = "studio"
  static let version = "9.8.7"

  let directory: URL
  let store: HealthStore
  let registry: PeerRegistry
  let identity: PeerIdentity
  let desk: PairingDesk
  let events: PairingEvents
  let audit: AuditTrail
  let port: Int

  var endpoint: PeerEndpoint { PeerEndpoint(host: "127.0.0.1", port: port) }
  var trust: CertificateTrust { .pinned(identity.fingerprint, peer: Self.name) }

  /// A token that the server accepts from now on.
  func token(
    name: String = "laptop", method: PairedClient.Method = .spake2, scope: SampleFilter = .everything,
    certificate: Fingerprint? = nil, expiresAt: Date = Date() + 3600
  ) async throws -> (id: PeerID, token: BearerToken) {
    let id = try makePeerID()
    let token = BearerToken.random()
    let client = PairedClient(
      id: id, name: name, tokenHash: token.hash, certificateFingerprint: certificate, method: method,
      pairedAt: Date(), expiresAt: expiresAt, scope: scope)
    try await registry.addClient(client)
    return (id, token)
  }

  /// What a client that has paired keeps.
  func record(
    scope: SampleFilter = .everything, certificate: Fingerprint? = nil, expiresAt: Date = Date() + 3600,
    fingerprint: Fingerprint? = nil
  ) async throws -> (client: PeerID, server: ServerRecord) {
    let (id, token) = try await token(scope: scope, certificate: certificate, expiresAt: expiresAt)
    return (
      id,
      ServerRecord(
        id: identity.id, name: Self.name, fingerprint: fingerprint ?? identity.fingerprint,
        credential: BearerCredential(token), host: "127.0.0.1", port: UInt16(port))
    )
  }

  /// The audit log's events of these names, oldest first.
  func audited(_ names: AuditEvent.Name...) async throws -> [AuditRecord] {
    let wanted = Set(names.map(\.rawValue))
    return try await store.audit.records().filter { wanted.contains($0.event) }
  }
}

func makePeerID() throws -> PeerID {
  var generator = SystemRandomNumberGenerator()
  let bytes = (0..<PeerID.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
  guard let id = PeerID(bytes: bytes) else { throw NeverHappened() }
  return id
}

/// What a test may want otherwise.
struct ServerOptions: Sendable {
  var samples: [Sample] = []
  var limits = PairingDesk.Limits()
  var changesPerToken = 2_000
  var serving = ServingLimits()
  /// How long whoever is being answered may hold up a shutdown.
  var gracefulLimit = Duration.seconds(2)
  /// Deriving a key takes a good part of a second without optimisation; the plain pairing does without.
  var derivesKeys = true
  /// What happens before a client that has paired is stored.
  var beforeStoring: @Sendable () async -> Void = {}
  /// 0 picks a free one.
  var port = 0
  /// What happens when connections are accepted.
  var whenListening: @Sendable () async -> Void = {}
  /// Instead of a new one.
  var identity: PeerIdentity?
  /// How much room there is on the store's disk; that is not looked at otherwise.
  var space: (@Sendable (String) -> DiskSpace?)?
  /// Tries the way back to a machine; nothing is tried otherwise.
  var wayBack: (@Sendable (ServerRecord) async -> PairingView.Following)?
  /// How long reads are counted as one; most tests want to see each.
  var auditMinute = Duration.zero
}

/// Starts a server on a free port, runs `body`, stops the server. One test must not have more than two at a time.
@discardableResult
func withServer<Result: Sendable>(
  _ options: ServerOptions = ServerOptions(), _ body: @Sendable (TestServer) async throws -> Result
) async throws -> Result {
  // A test that waited for a second place while it has one would wait for tests that do the same.
  if Gate.hasPlace { return try await runServer(options, body) }
  await Gate.servers.enter()
  do {
    let result = try await Gate.$hasPlace.withValue(true) { try await runServer(options, body) }
    await Gate.servers.leave()
    return result
  } catch {
    await Gate.servers.leave()
    throw error
  }
}

private let noDerivation: PasswordScalar.Derivation = { _, _, _ throws(P256Error) in throw .invalidScalar }

private func runServer<Result: Sendable>(
  _ options: ServerOptions, _ body: @Sendable (TestServer) async throws -> Result
) async throws -> Result {
  try await withTemporaryDirectory { directory in
    let store = try HealthStore(directory: directory.path, space: options.space)
    if !options.samples.isEmpty { try await store.apply(ChangeBatch(additions: options.samples)) }
    let registry = try await PeerRegistry.open(in: directory)
    let ownIdentity: PeerIdentity = try await IdentityStore.loadOrCreate(in: directory)
    let identity = options.identity ?? ownIdentity
    let events = PairingEvents()
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let audit = AuditTrail(store: store, logger: logger, minute: options.auditMinute)
    let desk = try await PairingDesk(
      serverID: identity.id, fingerprint: identity.fingerprint, directory: directory, limits: options.limits,
      events: { events.send($0) }, derivation: options.derivesKeys ? PasswordScalar.derive : noDerivation
    ) { client in
      await options.beforeStoring()
      guard let formerID = try await registry.addClient(client) else { return }
      await audit.rotated(client.name, from: formerID, to: client.id)
    }

    let (ports, toPorts) = AsyncStream.makeStream(of: Int.self)
    var configuration = PeerServer.Configuration(
      name: TestServer.name, version: TestServer.version, host: "127.0.0.1", port: options.port)
    configuration.changesPerToken = options.changesPerToken
    configuration.limits = options.serving
    configuration.wayBack = options.wayBack
    let server = try PeerServer(
      configuration, store: store, registry: registry, identity: identity, desk: desk, audit: audit, logger: logger
    ) { port in
      toPorts.yield(port)
      await options.whenListening()
    }
    let pairingEvents = events.listen()

    // As `hpeer serve` does it: whoever is being answered may finish, but not for ever.
    var services = ServiceGroupConfiguration(services: [server], logger: logger)
    services.maximumGracefulShutdownDuration = options.gracefulLimit
    let group = ServiceGroup(configuration: services)
    let running = Task {
      defer { toPorts.finish() }
      try await group.run()
    }
    let auditing = Task { for await event in pairingEvents { await audit.record(event) } }
    defer { auditing.cancel() }
    guard let port = await ports.first(where: { _ in true }) else {
      try await running.value
      throw NeverHappened()
    }
    let result: Swift.Result<Result, any Error>
    do {
      result = .success(
        try await body(
          TestServer(
            directory: directory, store: store, registry: registry, identity: identity, desk: desk, events: events,
            audit: audit, port: port)))
    } catch {
      result = .failure(error)
    }
    await group.triggerGracefulShutdown()
    _ = await running.result
    return try result.get()
  }
}
