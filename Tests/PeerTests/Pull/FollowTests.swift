import Foundation
import HealthModel
import HealthStore
import NIOConcurrencyHelpers
import OperatingSystem
import PeerDiscovery
import PeerProtocol
import PeerTrust
import Testing
import TestSupport

@testable import PeerClient

@Suite("Following a peer", .timeLimit(.minutes(5)))
struct FollowTests {
  /// A log of the progress reported so far.
  private final class Log: Sendable {
    private let box = NIOLockedValueBox<(total: PullProgress, upToDate: Int, lost: [String])>((PullProgress(), 0, []))
    var total: PullProgress { box.withLockedValue(\.total) }
    var upToDate: Int { box.withLockedValue(\.upToDate) }
    var lost: [String] { box.withLockedValue(\.lost) }

    func add(_ event: Follow.Event) {
      box.withLockedValue { log in
        switch event {
        case .progress: break
        case .upToDate(let new, _):
          log.total += new
          log.upToDate += 1
        case .lost(let error, let new):
          log.total += new
          log.lost.append("\(error)")
        }
      }
    }
  }

  /// Follows `record` into a new store while `body` runs, and then stops. Returns the error that ended the following.
  @discardableResult
  private static func follow(
    _ record: ServerRecord, at endpoint: PeerEndpoint, silenceLimit: Int = 30,
    _ body: (HealthStore, Log, Task<Void, any Error>) async throws -> Void
  ) async throws -> (any Error)? {
    try await withTemporaryDirectory { directory in
      let registry = try await PeerRegistry.open(in: directory)
      let finder = PeerFinder(
        registry: registry, ownID: try makePeerID(), firstHandshake: .seconds(30), escape: { $0 })
      return try await withStore { store in
        let log = Log()
        let follow = Follow(
          into: store, from: record, finder: finder, silenceLimit: silenceLimit,
          retry: PullRetry(BackOff(first: .milliseconds(20), longest: .milliseconds(200))))
        let task = Task { try await follow.run(endpoints: [endpoint]) { log.add($0) } }
        try await body(store, log, task)
        task.cancel()
        switch await task.result {
        case .success: return nil
        case .failure(let error): return error
        }
      }
    }
  }

  @Test("what happens there is here soon, over one connection, and nothing is written down while nothing happens")
  func live() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(10))) { server in
      let record = try await server.record().server
      try await withRelay(to: server.port) { relay in
        let error = try await Self.follow(
          record, at: PeerEndpoint(host: "127.0.0.1", port: relay.port), silenceLimit: 6
        ) {
          store, log, _ in
          // The time of its waits is 1 second.
          _ = try await eventually { log.upToDate >= 4 ? true : nil }
          #expect(log.total.added == 10)
          for count in 1...5 {
            let sample = Samples.quantity(Samples.stepCount, Double(count), "count")
            try await server.store.apply(ChangeBatch(additions: [sample]))
            _ = try await eventually { try await store.total() == 10 + count ? true : nil }
          }
          try await server.store.apply(
            ChangeBatch(deletions: [Tombstone(sample: Samples.quantity().reference, deleted: Timestamp(seconds: 1))]))
          _ = try await eventually { log.total.changes == 16 ? true : nil }
          #expect(try await store.content() == server.store.content())
        }
        #expect(error is CancellationError)
        #expect(relay.connections == 1, "no handshake just to look, and none for each wait")
      }
      #expect(try await server.audited(.followStarted).count == 1)
      #expect(try await server.audited(.dataRead).count == 7)
    }
  }

  @Test("a connection that is cut is made again, and nothing is lost or doubled")
  func cut() async throws {
    try await withServer { server in
      let record = try await server.record().server
      // Each connection ends in the middle of something, after a handshake and a few answers.
      try await withRelay(to: server.port, cutAfter: 4_500) { relay in
        try await Self.follow(record, at: PeerEndpoint(host: "127.0.0.1", port: relay.port)) { store, log, _ in
          for count in 1...30 {
            let sample = Samples.quantity(at: Samples.noon + Int64(60 * count))
            try await server.store.apply(ChangeBatch(additions: [sample]))
            _ = try await eventually { try await store.total() == count ? true : nil }
          }
          #expect(try await store.content() == server.store.content())
          #expect(log.total.unchanged == 0)
          #expect(relay.connections > 2)
        }
      }
    }
  }

  @Test("a refused token and another certificate end it; a peer that is away does not")
  func ends() async throws {
    let other = try await makeIdentity()
    var options = ServerOptions()
    options.serving.waitRecheck = .milliseconds(100)
    try await withServer(options) { server in
      let (client, record) = try await server.record()
      let refused = try await Self.follow(record, at: server.endpoint) { _, log, task in
        _ = try await eventually { try await server.audited(.followStarted).count == 1 ? true : nil }
        try await server.registry.revoke(id: client)
        _ = await task.result
        #expect(log.lost.isEmpty)
      }
      #expect(refused as? PeerError == .tokenRefused(peer: TestServer.name))
    }
    #expect(
      !PullRetry.mayHelp(
        after: PeerError.certificateChanged(peer: "x", pinned: other.fingerprint, seen: other.fingerprint)))
    #expect(!PullRetry.mayHelp(after: PeerError.tokenRefused(peer: "x")))
    // An app on a phone is tried again, but for what its owner must do.
    #expect(PullRetry.mayHelp(after: PeerError.unexpectedAnswer(status: 200, message: "x"), isApp: true))
    #expect(!PullRetry.mayHelp(after: PeerError.unexpectedAnswer(status: 200, message: "x")))
    #expect(!PullRetry.mayHelp(after: PeerError.tokenRefused(peer: "x"), isApp: true))
    #expect(!PullRetry.mayHelp(after: StoreError.diskFull(path: "x")))
    #expect(PullRetry.mayHelp(after: StoreError.locked(path: "x")))
    #expect(PullRetry.mayHelp(after: PeerError.connectionLost(endpoint: "x")))
    #expect(PullRetry.mayHelp(after: PeerError.busy(retryAfter: 5)))
    #expect(PullRetry.mayHelp(after: PeerFinderError.notFound(name: "x", seconds: 4, seen: [])))
    #expect(!PullRetry.mayHelp(after: CancellationError()))
  }

  @Test("a server that does not hold requests is not asked one after the other")
  func eager() async throws {
    let identity = try await makeIdentity()
    try await withCannedServer(tls: identity) { _, outbound in
      try await outbound.write(
        httpResponse("{\"token\":\"x\",\"more\":false}\n", type: "application/x-ndjson"))
    } _: { port, requests in
      let record = ServerRecord(
        id: try makePeerID(), name: "old", fingerprint: identity.fingerprint, credential: BearerCredential(.random()),
        host: "127.0.0.1", port: UInt16(port))
      try await Self.follow(record, at: PeerEndpoint(host: "127.0.0.1", port: port)) { _, log, _ in
        _ = try await eventually { log.upToDate >= 2 ? true : nil }
        let start = ContinuousClock.now
        try await Task.sleep(for: .seconds(2))
        // After 1, 2, 4 seconds.
        #expect(requests().count <= 4 + Int(start.duration(to: .now) / .seconds(1)))
        #expect(requests().last?.contains("since=x&wait=25") == true)
      }
    }
  }

  @Test("into an empty store one after the other begins, and into one that is not, all at once")
  func firstPullQueue() async throws {
    try await withStore { store in
      let turn = FirstPullQueue()
      let place = try #require(try await turn.take(for: store))
      let log = NIOLockedValueBox<[String]>([])
      let second = Task {
        let place = try await turn.take(for: store)
        log.withLockedValue { $0.append(place == nil ? "at once" : "alone") }
        place?.leave()
      }
      let cancelled = Task { try await turn.take(for: store) }
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
      #expect(log.withLockedValue(\.self).isEmpty)
      place.leave()
      place.leave()
      try await second.value
      #expect(log.withLockedValue(\.self) == ["alone"])
      let last = try #require(try await turn.take(for: store))
      try await store.apply(ChangeBatch(additions: Samples.heartRates(1)))
      async let waiting = turn.take(for: store)
      last.leave()
      #expect(try await waiting == nil)
      #expect(try await turn.take(for: store) == nil)
    }
  }

  @Test("whoever waits for its turn asks nothing, and is compared with what has come by then")
  func turns() async throws {
    let birth = Persons.readings("1986-05-17")
    try await withServer(ServerOptions(samples: birth + Samples.heartRates(3))) { server in
      try await withTemporaryDirectory { directory in
        let registry = try await PeerRegistry.open(in: directory)
        let record = try await server.record().server
        try await registry.addServer(record)
        let store = try HealthStore(directory: directory.path)
        let (turn, log) = (FirstPullQueue(), Log())
        let place = try #require(try await turn.take(for: store))
        let finder = PeerFinder(
          registry: registry, ownID: try makePeerID(), firstHandshake: .seconds(30), escape: { $0 })
        let follow = Follow(
          into: store, from: record, finder: finder, persons: PersonCheck(registry), firstPullQueue: turn)
        let task = Task { try await follow.run(endpoints: [server.endpoint]) { log.add($0) } }
        try await store.apply(ChangeBatch(additions: Samples.heartRates(1)))
        try await store.apply(ChangeBatch(additions: birth))
        #expect(try await server.audited(.readStarted, .dataRead, .followStarted).isEmpty)
        place.leave()
        _ = try await eventually { log.upToDate > 0 ? true : nil }
        #expect(try await store.total() == 5)
        #expect(try await server.audited(.personCompared).map { $0.detail["person"] } == ["same"])
        task.cancel()
        _ = await task.result
      }
    }
  }
}
