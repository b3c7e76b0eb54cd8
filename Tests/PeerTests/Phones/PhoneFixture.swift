import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust
import PhoneApps

@testable import PeerClient

/// The number of samples that a pull added, and the number of its requests.
struct Counted: Equatable {
  var added: Int
  var requests: Int
}

/// A client that is paired with an app in memory, and the client's store.
struct PhoneFixture<App: PhoneApp> {
  let app: App
  let network: PhoneNetwork
  let store: HealthStore
  let server: ServerRecord

  init(_ app: App, dialect: String, token: String, store: HealthStore, clock: VirtualClock = VirtualClock()) throws {
    (self.app, self.store) = (app, store)
    network = PhoneNetwork(app, clock: clock)
    guard let credential = BearerCredential(text: token) else { throw PeerError.notPaired(peer: "phone") }
    server = ServerRecord(
      id: PeerID(certificate: PhoneNetwork.fingerprint), name: "phone", fingerprint: PhoneNetwork.fingerprint,
      credential: credential, dialect: dialect)
  }

  private static var endpoint: PeerEndpoint { PeerEndpoint(host: "192.0.2.7", port: 50_000) }

  /// - Parameters:
  ///   - requests: The number of requests after which the phone is out of reach.
  ///   - registry: The registry that stores the phone's person, which is inferred from the phone's samples.
  @discardableResult
  func pull(
    full: Bool = false, putAwayAfter requests: Int? = nil, inferringWith registry: PeerRegistry? = nil
  ) async throws -> PullProgress {
    network.state.withLock { $0.requestsLeft = requests }
    var settings = PullSettings(store: store, server: server)
    if let registry, try await registry.server(id: server.id) == nil { try await registry.addServer(server) }
    if let registry { (settings.persons, settings.infersDeletions) = (PersonCheck(registry, merges: true), true) }
    return try await ClientNetwork.$current.withValue(network.client) { [settings] in
      try await Pull(settings, at: Self.endpoint).run(full: full) { _, _ in }
    }
  }

  private struct Enough: Error {}

  /// Follows the phone for a number of checks.
  func follow(looks: Int) async throws {
    network.state.withLock { $0.requestsLeft = nil }
    let settings = PullSettings(store: store, server: server)
    var count = 0
    do {
      try await ClientNetwork.$current.withValue(network.client) {
        try await Pull(settings, at: Self.endpoint).watch(full: false, wait: 1) { _, _ in
        } upToDate: { _ in
          count += 1
          if count == looks { throw Enough() }
        }
      }
    } catch is Enough {}
  }

  func verify() async throws -> Verification {
    network.state.withLock { $0.requestsLeft = nil }
    return try await ClientNetwork.$current.withValue(network.client) {
      try await Verify(store, with: server, at: Self.endpoint).run()
    }
  }

  /// Pulls and returns the number of added samples and of requests.
  func counted() async throws -> Counted {
    let before = network.state.withLock(\.requests)
    let added = try await pull().added
    return Counted(added: added, requests: network.state.withLock(\.requests) - before)
  }

  var coverage: PullCoverage? {
    get async throws { try await Pull.coverage(of: server, in: store) }
  }

  /// Returns the UUIDs of all samples, including duplicates.
  func uuids() async throws -> [UUID] {
    var (uuids, anchor): ([UUID], Anchor) = ([], .zero)
    while true {
      let page = try await store.feed.codedChanges(since: anchor, limit: 10_000)
      uuids += page.changes.samples.map(\.uuid)
      if page.isLast { return uuids }
      anchor = page.anchor
    }
  }
}

extension PhoneFixture where App == HealthAppTransferApp {
  static func healthAppTransfer(
    into store: HealthStore, seed: UInt64 = 1, clock: VirtualClock = VirtualClock(),
    happening: @escaping @Sendable (inout HealthAppTransferApp.State) -> Void = { _ in }
  ) throws -> Self {
    let app = HealthAppTransferApp(seed: seed, happening: happening)
    app.state.withLock { _ = $0.tokens.insert("token") }
    return try Self(app, dialect: "HealthAppTransfer", token: "token", store: store, clock: clock)
  }

  func add(_ samples: [PhoneSample]) { app.state.withLock { $0.add(samples) } }

  /// The UUIDs of the samples that the app has.
  var held: Set<UUID> { Set(app.state.withLock { $0.samples.values.flatMap { $0 } }.map(\.id)) }
}

extension PhoneSample {
  /// Returns heart rates at regular intervals, newest first.
  static func heartRates(_ count: Int, every seconds: Double = 60, before end: Double = 1_780_000_000) -> [PhoneSample]
  {
    (0..<count).map { .heartRate(60 + Double($0 % 40), at: end - Double($0) * seconds) }
  }
}
