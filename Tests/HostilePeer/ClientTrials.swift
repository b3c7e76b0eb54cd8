import Foundation
import HealthModel
import HealthStore
import PeerClient
import PeerDiscovery
import PeerProtocol
import PeerTrust
import TestSupport

/// A runner of a whole client against hostile servers, each time with a new store. It checks that the client
/// terminates, keeps what it held and stores only what was sent.
public final class ClientTrials: Sendable {
  /// A failed check of a trial.
  public struct Violation: Error, CustomStringConvertible {
    public var description: String
    init(_ description: String) { self.description = description }
  }

  /// The time limit for a trial, in real time.
  private static let limit = Duration.seconds(60)
  private let directory: URL
  private let template: URL
  private let registry: PeerRegistry
  private let identity: PeerIdentity
  private let before: StoreContent
  /// The samples of the template store, in a fixed order.
  private let known: [Sample]

  public init() async throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("hpeer-trials-\(UUID().uuidString)")
    template = directory.appendingPathComponent("template")
    for url in [directory, template] {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    registry = try await PeerRegistry.open(in: directory)
    identity = try await IdentityStore.loadOrCreate(in: directory)
    var maker = SampleMaker(seed: 4)
    var held = (0..<5).map { maker.steps(at: $0) }
    held[4].type = Person.Trait.dateOfBirth.type
    held[4].payload = .characteristic(CharacteristicValue(value: "1986-05-17"))
    let store = try HealthStore(directory: template.path)
    try await store.apply(ChangeBatch(additions: held))
    before = try await StoreContent(of: store)
    known = held
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Limits of about a hundredth of the real ones, so that they are reached within milliseconds.
  private static var limits: ClientLimits {
    var limits = ClientLimits()
    limits.framingBytes = 4 << 10
    limits.bodyBytes = 32 << 10
    (limits.frameBytes, limits.batchBytes, limits.line.bytes) = (256 << 10, 256 << 10, 128 << 10)
    (limits.freelyExpandedBytes, limits.bytesAhead) = (64 << 10, 64 << 10)
    (limits.batchChanges, limits.dictionaryEntries, limits.dictionaryBytes) = (200, 100, 64 << 10)
    (limits.json.weight, limits.columns.weight, limits.line.weight) = (40_000, 40_000, 40_000)
    limits.digest = JSONBudget(bytes: 64 << 10, weight: 20_000)
    (limits.repeatedChanges, limits.busyAnswers) = (20, 4)
    return limits
  }

  /// Runs a trial.
  ///
  /// - Throws: ``Violation`` if a check fails.
  /// - Returns: The number of samples that the client stored.
  @discardableResult
  public func run(_ choices: Choices) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask { try await self.trial(choices) }
      group.addTask {
        try await Task.sleep(for: Self.limit)
        throw Violation("still running after \(Self.limit)")
      }
      defer { group.cancelAll() }
      return try await group.next() ?? 0
    }
  }

  private func trial(_ choices: Choices) async throws -> Int {
    var choices = choices
    let home = directory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.copyItem(at: template, to: home)
    defer { try? FileManager.default.removeItem(at: home) }
    let store = try HealthStore(directory: home.path)
    guard let id = PeerID(bytes: (0..<16).map { _ in UInt8.random(in: 0...255, using: &choices.random) }) else {
      return 0
    }
    let persons = choices.oneIn(3) ? PersonCheck(registry, merges: choices.oneIn(2)) : nil
    let server = HostileServer(choices, id: id, known: known)
    let record = ServerRecord(
      id: id, name: "studio", fingerprint: Fingerprint(certificateDER: [1]), credential: BearerCredential(.random()),
      host: "127.0.0.1", port: 1)
    if persons != nil { try await registry.addServer(record) }

    let network = MemoryNetwork(server, Self.limits)
    let pull = Pull(
      into: store, from: record, at: PeerEndpoint(host: "127.0.0.1", port: 1), persons: persons)
    try await ClientNetwork.$current.withValue(network.client) {
      try await Self.drive(pull, record, identity, store, choices)
    }
    await network.end()
    if persons != nil { _ = try await registry.removeServer(id: id) }
    let after = try await StoreContent(of: store)
    try await FeedCheck(
      pages: server.pages, before: before, after: after,
      position: store.feed.position(of: pull.consumer), asked: server.askedSince
    ).run()
    let requests = await server.requests
    guard requests < HostileServer.mostRequests else { throw Violation("\(requests) requests, and no end") }
    return after.samples.keys.count { before.samples[$0] == nil }
  }

  private struct Enough: Error {}

  /// Makes every kind of request that a client makes. The client may fail with any error.
  private static func drive(
    _ pull: Pull, _ record: ServerRecord, _ identity: PeerIdentity, _ store: HealthStore, _ choices: Choices
  ) async throws {
    var choices = choices
    let endpoint = PeerEndpoint(host: "127.0.0.1", port: 1)
    discover(&choices)
    do {
      let session = try await PairingSession.open(at: endpoint)
      // Deriving a key takes longer than all the rest.
      if choices.oneIn(64), let code = PairingCode("123456") {
        _ = try await session.pair(code: code, clientID: record.id, certificate: nil, name: "laptop")
      }
    } catch {}
    for full in [false, choices.oneIn(4)] {
      do { _ = try await pull.run(full: full) { _, _ in } } catch {}
    }
    if choices.oneIn(3) {
      var rounds = 0
      do {
        try await pull.watch(full: false, wait: 1) { _, _ in
        } upToDate: { _ in
          rounds += 1
          if rounds == 6 { throw Enough() }
        }
      } catch {}
    }
    do { _ = try await Verify(store, with: record, at: endpoint, isDeep: choices.oneIn(3)).run() } catch {}
    if choices.oneIn(4) {
      _ = await PeerDiagnostics(identity: identity, survey: { [] }).tryOut(record, asksOtherEnd: true)
    }
    do { try await Unpair.tell(record, at: endpoint) } catch {}
  }

  /// Exercises discovery with services that any machine may announce, in the form in which Avahi reports them.
  private static func discover(_ choices: inout Choices) {
    let words = [
      "studio", "", "\u{0}", "Rene\u{301}", "studio #2", "studio #\u{660}", String(repeating: "x", count: 63),
    ]
    let services = (0..<choices.below(4)).map { number in
      DiscoveredService(
        name: choices.pick(words), hostName: choices.pick(words),
        address: choices.pick(["10.0.0.1", "fe80::1%eth0", ""]),
        addressFamily: choices.oneIn(2) ? .ipv6 : .ipv4, port: UInt16(choices.below(65_536)), interfaceName: "eth0",
        interfaceIndex: Int32(number), txt: ["id": choices.extreme(), "pair": choices.extreme()])
    }
    for peer in DiscoveredPeer.group(services) {
      _ = (
        peer.endpoints, peer.matches(choices.pick(words)), DiscoveredPeer.isInstance(peer.name, of: choices.pick(words))
      )
    }
  }
}
