import HealthModel
import HealthStore
import PeerDiscovery
import PeerProtocol
import PeerTrust
import Synchronization
import Testing

@testable import PeerClient

@Suite("A second dialect")
struct PeerDialectTests {
  @Test("brings its samples, goes on from its positions and begins again where it must")
  func pull() async throws {
    let samples = Samples.heartRates(30)
    let phone = Phone(samples: Array(samples.prefix(20)))
    try await withStore { store in
      let pull = phone.pull(into: store)
      let first = try await pull.run()
      #expect(first.added == 20)
      #expect(first.peerName == "phone")
      #expect(try await pull.run().changes == 0)
      phone.state.withLock { $0.samples = samples }
      #expect(try await pull.run().changes == 10)
      phone.state.withLock { $0.isGone = true }
      let again = try await pull.run()
      #expect(again.unchanged == 30)
      #expect(try await store.content().count == 30)
    }
  }

  @Test("what came before an answer broke off is kept, and the next pull goes on after it")
  func brokenOff() async throws {
    let phone = Phone(samples: Samples.heartRates(20))
    phone.state.withLock { $0.breaksOffAfter = 2 }
    try await withStore { store in
      let pull = phone.pull(into: store)
      await #expect(throws: PeerError.connectionLost(endpoint: "phone")) { try await pull.run() }
      let kept = try await store.content().count
      #expect(kept == 2 * PhoneAnswer.batchSize)
      phone.state.withLock { $0.breaksOffAfter = nil }
      #expect(try await pull.run().changes == 20 - kept)
    }
  }

  @Test("a server of a dialect that this version lacks is not pulled from")
  func unknown() async throws {
    let phone = Phone(samples: Samples.heartRates(1))
    try await withStore { store in
      let pull = Pull(into: store, from: phone.record, at: PeerEndpoint(host: "127.0.0.1", port: 1))
      await #expect(throws: PeerError.unknownDialect(peer: "phone", dialect: "test")) { try await pull.run() }
    }
  }

  @Test("only an hpeer's announcement is taken for hpeer's")
  func recognition() {
    func announcement(_ txt: [String: String]) -> DiscoveredPeer {
      DiscoveredPeer(
        DiscoveredService(
          name: "studio", hostName: "studio.local", address: "192.0.2.1", addressFamily: .ipv4, port: 8737,
          interfaceName: "eth0", interfaceIndex: 2, txt: txt))
    }
    let own = announcement(["id": String(repeating: "a1", count: 16)])
    #expect(PeerDialects.dialect(of: own)?.name == "hpeer")
    #expect(PeerDialects.dialect(of: announcement(["version": "2"])) == nil)
  }
}

/// A dialect whose servers are objects in memory, identified by the pairing's secret.
private struct PhoneDialect: PeerDialect {
  static let name = "test"
  private static let phones = Mutex<[String: Phone]>([:])

  private let phone: Phone?

  init(_ settings: PullSettings) { phone = Self.phones.withLock { $0[settings.server.credential.text] } }

  static func add(_ phone: Phone) { phones.withLock { $0[phone.record.credential.text] = phone } }

  static func recognises(_ announcement: DiscoveredPeer) -> Bool { announcement.name.hasPrefix("phone") }

  func withSession<Result: Sendable>(
    at endpoint: PeerEndpoint, _ body: (any PeerSession) async throws -> Result
  ) async throws -> Result {
    try await body(PhoneSession(phone: try #require(phone)))
  }
}

private final class Phone: Sendable {
  struct State: Sendable {
    var samples: [Sample]
    /// Whether the next position is rejected as no longer known.
    var isGone = false
    /// The number of batches after which the answer is interrupted.
    var breaksOffAfter: Int?
  }

  private static let fingerprint = Fingerprint(certificateDER: [1])
  let record = ServerRecord(
    id: PeerID(certificate: fingerprint), name: "phone", fingerprint: fingerprint,
    credential: BearerCredential(.random()), dialect: "test")
  let state: Mutex<State>

  init(samples: [Sample]) {
    state = Mutex(State(samples: samples))
    PhoneDialect.add(self)
  }

  func pull(into store: HealthStore) -> Pull {
    Pull(
      PullSettings(store: store, server: record), at: PeerEndpoint(host: "127.0.0.1", port: 1),
      dialects: [PhoneDialect.self])
  }
}

private struct PhoneSession: PeerSession {
  let phone: Phone
  let limits = ClientLimits()

  func prepareToStartOver() {}

  func answer(since position: String?, wait: Int?) throws -> any IncomingAnswer {
    let state = phone.state.withLock { state in
      defer { if position != nil { state.isGone = false } }
      return state
    }
    if state.isGone, position != nil { throw PeerError.tokenGone }
    return PhoneAnswer(
      samples: state.samples, next: position.flatMap { Int($0) } ?? 0, batchesLeft: state.breaksOffAfter ?? .max)
  }
}

private struct PhoneAnswer: IncomingAnswer {
  static let batchSize = 5

  let samples: [Sample]
  /// The position: the number of samples sent so far.
  var next: Int
  var batchesLeft: Int
  var isOver = false
  var peerName: String? { "phone" }
  var expected: Int? { samples.count }
  var owner: RecordOwner? { nil }
  var bytesReceived: Int { next * 100 }

  mutating func batches(during write: Ongoing?, beside bytes: Int) -> IncomingBatches {
    var arrived = IncomingBatches()
    guard !isOver, batchesLeft > 0 else { return arrived }
    let some = samples[next..<min(next + Self.batchSize, samples.count)]
    var coder = ChangeCoder()
    for sample in some { try? coder.add(sample) }
    (next, batchesLeft) = (next + some.count, batchesLeft - 1)
    isOver = next == samples.count
    arrived.batches = [ChangeFeedBatch(changes: coder.changes, token: String(next), more: !isOver)]
    return arrived
  }

  func requireEnd() throws {
    if !isOver { throw PeerError.connectionLost(endpoint: "phone") }
  }
}
