import Foundation
import HealthModel
import HealthStore
import PeerClient
import PeerProtocol
import PeerTrust
import TestSupport

/// A runner of pulls from hostile phone apps, each into a new store. It checks that the pull terminates, that the
/// store keeps what it held, and that no request would crash a real app.
public final class PhoneTrials: Sendable {
  /// The time limit for a trial, in real time.
  private static let limit = Duration.seconds(60)
  private let directory: URL
  private let template: URL
  private let before: StoreContent

  public init() async throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("hpeer-phones-\(UUID().uuidString)")
    template = directory.appendingPathComponent("template")
    for url in [directory, template] {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    var maker = SampleMaker(seed: 4)
    let store = try HealthStore(directory: template.path)
    try await store.apply(ChangeBatch(additions: (0..<5).map { maker.steps(at: $0) }))
    before = try await StoreContent(of: store)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Runs a trial.
  ///
  /// - Throws: ``ClientTrials/Violation`` if a check fails.
  /// - Returns: The number of samples that were stored.
  @discardableResult
  public func run(_ choices: Choices) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask { try await self.trial(choices) }
      group.addTask {
        try await Task.sleep(for: Self.limit)
        throw ClientTrials.Violation("still running after \(Self.limit)")
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
    let isHealthSync = choices.oneIn(2)
    let (fingerprint, endpoint) = (Fingerprint(certificateDER: [1]), PeerEndpoint(host: "127.0.0.1", port: 1))
    let server = ServerRecord(
      id: PeerID(certificate: fingerprint), name: "phone", fingerprint: fingerprint,
      credential: BearerCredential(.random()), dialect: isHealthSync ? "HealthSync" : "HealthAppTransfer")
    let app = HostileApp(choices, isHealthSync: isHealthSync)
    var network = ClientNetwork()
    network.clock = SkippingClock()
    network.exchange = { request, endpoint, _, _, _ in try app.answer(request, at: endpoint) }
    try await ClientNetwork.$current.withValue(network) {
      let pull = Pull(into: store, from: server, at: endpoint)
      // Any error will do.
      for full in [false, false, true] { do { _ = try await pull.run(full: full) { _, _ in } } catch {} }
      do { _ = try await Verify(store, with: server, at: endpoint).run() } catch {}
      _ = try await Pull.coverage(of: server, in: store)
    }
    if let forbidden = app.forbidden { throw ClientTrials.Violation("asked for what ends the app: \(forbidden)") }
    let after = try await StoreContent(of: store)
    for (id, content) in before.samples where after.samples[id] != content {
      throw ClientTrials.Violation("the store has lost a sample that it held")
    }
    return after.samples.count - before.samples.count
  }
}
