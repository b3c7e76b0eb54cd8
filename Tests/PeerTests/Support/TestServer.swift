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

/// A server on loopback with its own store and registry, assembled as in `hpeer serve`.
struct TestServer: Sendable {
  static let name = "studio"
  static let version = "9.8.7"

  let directory: URL
  let store: HealthStore
  let registry: PeerRegistry
  let identity: PeerIdentity
  let desk: PairingCoordinator
  let events: PairingEvents
  let audit: AuditTrail
  let port: Int

  var endpoint: PeerEndpoint { PeerEndpoint(host: "127.0.0.1", port: port) }
  var trust: CertificateTrust { .pinned(identity.fingerprint, peer: Self.name) }

  /// Adds a paired client and returns its ID and token.
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

  /// Adds a paired client and returns its ID and the server record that it would store.
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

  /// Returns the audit log's events with these names, oldest first.
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

/// The options of a test server.
struct ServerOptions: Sendable {
  var samples: [Sample] = []
  var limits = PairingCoordinator.Limits()
  var changesPerToken = 2_000
  var serving = ServingLimits()
  /// The time for which requests in progress may delay a shutdown.
  var gracefulLimit = Duration.seconds(2)
  /// Whether pairing derives keys with scrypt, which takes much of a second without optimization. Plain pairing works
  /// without it.
  var derivesKeys = true
  /// A closure that runs before a client that has paired is stored.
  var beforeStoring: @Sendable () async -> Void = {}
  /// The port, or 0 for a free port.
  var port = 0
  /// A closure that runs when connections are accepted.
  var whenListening: @Sendable () async -> Void = {}
  /// The server's identity, or `nil` for a new identity.
  var identity: PeerIdentity?
  /// A closure that returns the free space on the store's disk, or `nil` to skip the check.
  var space: (@Sendable (String) -> DiskSpace?)?
  /// A closure that tests the connection back to a machine, or `nil` to test none.
  var wayBack: (@Sendable (ServerRecord) async -> PairingView.Following)?
  /// The period within which reads are audited as a single event. Most tests want an event for each.
  var auditMinute = Duration.zero
}

/// Starts a server on a free port, runs `body` and stops the server. A test must not have more than two servers at a
/// time.
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
    let desk = try await PairingCoordinator(
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
