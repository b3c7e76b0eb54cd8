import Foundation
import HealthFormats
import HealthModel
import HealthStore
import Logging
import OperatingSystem
import PeerServer
import PeerTrust
import ServiceLifecycle
import TestSupport
import Testing

@testable import HealthOperations

/// An inbox on loopback, over TLS with a certificate of the home's own authority, and a client that trusts it.
struct RunningInbox: Sendable {
  let home: TestHome
  let registry: PeerRegistry
  let port: Int

  struct Answer: Sendable {
    var status: Int
    /// The response's head and body.
    var text: String
  }

  /// Starts the inbox, runs `body` and stops the inbox.
  static func run(
    _ home: TestHome, limits: InboxLimits = InboxLimits(), contents: InboxBody.Limits = .init(),
    certificates source: InboxCertificates.Source? = nil, interval: Duration = .seconds(20),
    clock: any Clock<Duration> = ContinuousClock(),
    taking: @Sendable (InboxReceiver) -> any InboxHandler = { $0 },
    _ body: @Sendable (RunningInbox) async throws -> Void
  ) async throws {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let registry = try await home.home.openRegistry()
    let certificates = try await InboxCertificates(
      interval: interval, logger: logger, source: source ?? InboxCertificateSource.authority(of: home.home))
    var configuration = InboxServer.Configuration(host: "127.0.0.1", port: 0, security: .certificates(certificates))
    configuration.limits = limits
    configuration.clock = clock
    let (ports, toPorts) = AsyncStream.makeStream(of: Int.self)
    let server = InboxServer(
      configuration, registry: registry,
      inbox: taking(InboxReceiver(store: home.store, registry: registry, limits: contents)),
      audit: AuditTrail(store: home.store, logger: logger), logger: logger
    ) { toPorts.yield($0) }
    var services = ServiceGroupConfiguration(services: [server], logger: logger)
    services.maximumGracefulShutdownDuration = .seconds(5)
    let group = ServiceGroup(configuration: services)
    let running = Task {
      defer { toPorts.finish() }
      try await group.run()
    }
    guard let port = await ports.first(where: { _ in true }) else { return try await running.value }
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(RunningInbox(home: home, registry: registry, port: port)))
    } catch {
      result = .failure(error)
    }
    await group.triggerGracefulShutdown()
    _ = await running.result
    try result.get()
  }

  /// Adds a sender and returns its secret.
  func add(_ name: String, types: Set<SampleType>? = nil) async throws -> String {
    try await InboxSenders(registry, auditedIn: home.store).add(name, types: types).text
  }

  /// Posts a body with curl and returns the response.
  ///
  /// - Parameter header: The header with the secret, or `nil` for none.
  func post(
    _ body: some Sequence<UInt8>, to path: String, _ header: String?, more: [String] = []
  ) async throws -> Answer {
    let file = home.directory.path("body-\(UUID().uuidString)")
    try Data(body).write(to: URL(filePath: file))
    defer { try? FileManager.default.removeItem(atPath: file) }
    return try await curl(["--data-binary", "@\(file)"] + (header.map { ["-H", $0] } ?? []) + more, path)
  }

  func post(_ text: String, to path: String, secret: String?, more: [String] = []) async throws -> Answer {
    try await post(text.utf8, to: path, secret.map { "Authorization: Bearer \($0)" }, more: more)
  }

  /// - Parameter authority: A file with the certificates that the client trusts, or `nil` for the home's own
  /// authority.
  func curl(_ arguments: [String], _ path: String, trusting authority: String? = nil) async throws -> Answer {
    let authority = authority ?? home.home.directory + "/inbox/authority.pem"
    let outcome = await CommandRunner.run(
      "curl",
      ["-s", "-i", "--max-time", "100", "--noproxy", "*", "--cacert", authority, "-H", "Expect:"] + arguments + [
        "https://localhost:\(port)\(path)"
      ], limit: 120)
    guard case .finished(let status, let output, let errors) = outcome else {
      throw Unanswered(what: "\(outcome)")
    }
    guard let match = output.firstMatch(of: #/HTTP/1\.1 (\d{3})/#), let code = Int(match.1) else {
      throw Unanswered(what: "curl ended with \(status): \(errors)")
    }
    return Answer(status: code, text: output)
  }

  /// Waits until a sender has used its secret.
  func waitUntilSeen(_ name: String) async throws {
    while try await registry.inboxSenders().first(where: { $0.name == name })?.lastSeen == nil {
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  struct Unanswered: Error { var what: String }

  /// Returns the number of samples of each type in the store.
  func counts() async throws -> [String: Int] {
    let counts = try await home.store.samples.typeCounts().map { ($0.type.rawValue, $0.samples) }
    return Dictionary(counts, uniquingKeysWith: +)
  }
}

/// An inbox that holds back the bodies of a sender until its gate is opened.
struct HeldInbox: InboxHandler {
  let inbox: any InboxHandler
  let sender: String
  /// A continuation that is called for each body that begins to wait.
  let waiting: AsyncStream<Void>.Continuation
  /// A stream whose end opens the gate.
  let gate: AsyncStream<Void>

  func take(_ delivery: InboxDelivery) async throws -> InboxReceipt {
    if delivery.sender.name == sender {
      waiting.yield()
      for await _ in gate {}
    }
    return try await inbox.take(delivery)
  }
}
