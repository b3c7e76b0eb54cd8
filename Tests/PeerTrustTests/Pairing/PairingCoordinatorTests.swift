import Foundation
import HealthModel
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite struct PairingCoordinatorTests {
  @Test func rightCodePairs() async throws {
    let fixture = try await DeskFixture()
    let window = try await fixture.desk.open()
    let confirmation = try await fixture.begin(window.code)
    let response = try await fixture.desk.finish(confirmation.finishRequest)
    let paired = try confirmation.verify(response)

    let client = try #require(fixture.world.clients.first)
    #expect(fixture.world.clients.count == 1)
    // It may say what it likes.
    #expect(client.id != fixture.clientID)
    #expect(client.name == "laptop")
    #expect(client.tokenHash == paired.token.hash)
    #expect(client.certificateFingerprint == nil)
    #expect(client.method == .spake2)
    #expect(client.expiresAt == fixture.world.time + 30 * 86_400)
    #expect(paired.expiresAt == client.expiresAt)
    #expect(
      fixture.world.events == [
        .windowOpened(expiresAt: window.expiresAt),
        .succeeded(clientID: client.id, name: "laptop", method: .spake2), .windowClosed(.paired),
      ])
  }

  /// Pairs as the two programs do: with public functions, messages as JSON, scrypt, a real identity and a registry.
  @Test func fromIdentityToRegistry() async throws {
    func travel<Message: Codable>(_ message: Message) throws -> Message {
      try JSONDecoder().decode(Message.self, from: JSONEncoder().encode(message))
    }
    let directory = try TemporaryDirectory()
    let identity = try await IdentityStore.loadOrCreate(in: directory.url)
    let registry = try await PeerRegistry.open(in: directory.url)
    let desk = try await PairingCoordinator(identity: identity, directory: directory.url) {
      try await registry.addClient($0)
    }
    let window = try await desk.open()

    let exchange = try await PairingClientExchange(
      hello: travel(desk.hello()), code: window.code, clientID: #require(PeerID(bytes: Array(1...16))),
      name: " Anna’s laptop\n", serverFingerprint: identity.fingerprint)
    let started = try await desk.start(travel(exchange.startRequest))
    let confirmation = try exchange.confirm(travel(started))
    let finished = try await desk.finish(travel(confirmation.finishRequest))
    let paired = try confirmation.verify(travel(finished))

    let token = try #require(BearerToken(text: paired.token.text))
    let authorization = try await registry.client(tokenHash: token.hash).get()
    #expect(authorization.name == "Anna’s laptop")
    #expect(paired.serverID == identity.id)
  }

  @Test func clientCertificateIsBoundAndKept() async throws {
    let fixture = try await DeskFixture()
    let certificate = try #require(Fingerprint(bytes: [UInt8](repeating: 0xcc, count: 32)))
    let confirmation = try await fixture.begin(fixture.desk.open().code, certificate: certificate)
    _ = try await confirmation.verify(fixture.desk.finish(confirmation.finishRequest))
    let client = try #require(fixture.world.clients.first)
    #expect(client.certificateFingerprint == certificate)
    #expect(client.id == PeerID(certificate: certificate))
    #expect(certificate.hex.hasPrefix(client.id.hex))
  }

  @Test("a window is closed by its number, and another one is not")
  func closingByNumber() async throws {
    let fixture = try await DeskFixture()
    let first = try await fixture.desk.open()
    let second = try await fixture.desk.open(by: .process(7))
    #expect(await !fixture.desk.close(first.number, because: .openerGone))
    #expect(await fixture.desk.currentCode == second.code)
    #expect(await fixture.desk.status().opener == .process(7))
    #expect(await fixture.desk.close(second.number, because: .openerGone))
    #expect(await fixture.desk.currentCode == nil)
    #expect(await fixture.desk.status().opener == nil)
    #expect(fixture.world.events.last == .windowClosed(.openerGone))
    #expect(await !fixture.desk.close(second.number, because: .openerGone))
  }

  @Test func aCodeServesOnce() async throws {
    let fixture = try await DeskFixture()
    let window = try await fixture.desk.open()
    let first = try await fixture.begin(window.code)
    let second = try await fixture.begin(window.code)
    _ = try await fixture.desk.finish(first.finishRequest)
    await #expect(throws: PairRejection.windowClosed) { try await fixture.desk.finish(second.finishRequest) }
    await #expect(throws: PairRejection.windowClosed) { try await fixture.beginGuess() }
    #expect(await fixture.desk.currentCode == nil)
    #expect(await !fixture.desk.hello().windowOpen)
    #expect(fixture.world.clients.count == 1)
  }

  @Test func wrongCodeCountsAndRotates() async throws {
    let fixture = try await DeskFixture()
    let window = try await fixture.desk.open()
    let confirmation = try await fixture.begin(DeskFixture.wrong(window.code))
    await #expect(throws: PairRejection.wrongCode(attemptsLeft: 4)) {
      try await fixture.desk.finish(confirmation.finishRequest)
    }
    #expect(fixture.world.events.suffix(2) == [.failed(.wrongCode, attemptsLeft: 4), .codeRotated(attemptsLeft: 4)])
    let hello = await fixture.desk.hello()
    #expect(hello.windowOpen)
    #expect(hello.salt != window.salt)
    #expect(
      await fixture.desk.status().window == .open(expiresAt: window.expiresAt, attemptsLeft: 4))
    #expect(fixture.world.clients.isEmpty)

    // The new code works, to the old end.
    let code = try #require(await fixture.desk.currentCode)
    let retry = try await fixture.begin(code)
    _ = try await retry.verify(fixture.desk.finish(retry.finishRequest))
  }

  @Test func relayFails() async throws {
    let fixture = try await DeskFixture()
    let seen = try #require(Fingerprint(bytes: [UInt8](repeating: 0xee, count: 32)))
    let confirmation = try await fixture.begin(fixture.desk.open().code, seeing: seen)
    await #expect(throws: PairRejection.wrongCode(attemptsLeft: 4)) {
      try await fixture.desk.finish(confirmation.finishRequest)
    }
  }

  @Test func aSessionServesOnce() async throws {
    let fixture = try await DeskFixture()
    _ = try await fixture.desk.open()
    let session = try await fixture.beginGuess()
    await #expect(throws: PairRejection.wrongCode(attemptsLeft: 4)) { try await fixture.finishGuess(session) }
    await #expect(throws: PairRejection.sessionExpired) { try await fixture.finishGuess(session) }
    #expect(await fixture.desk.status().failures == 1)
  }

  @Test func finishBeforeStart() async throws {
    let fixture = try await DeskFixture()
    await #expect(throws: PairRejection.windowClosed) {
      try await fixture.finishGuess([UInt8](repeating: 1, count: 16))
    }
    _ = try await fixture.desk.open()
    await #expect(throws: PairRejection.sessionExpired) {
      try await fixture.finishGuess([UInt8](repeating: 1, count: 16))
    }
    #expect(await fixture.desk.status().failures == 0)
  }

  @Test func proofOfAnotherSessionFails() async throws {
    let fixture = try await DeskFixture()
    let window = try await fixture.desk.open()
    let mine = try await fixture.begin(window.code)
    let other = try await fixture.beginGuess()
    await #expect(throws: PairRejection.wrongCode(attemptsLeft: 4)) {
      try await fixture.desk.finish(PairFinishRequest(session: other, cA: mine.finishRequest.cA))
    }
  }

  @Test func otherVersionsAreRefusedWithoutCounting() async throws {
    let fixture = try await DeskFixture()
    _ = try await fixture.desk.open()
    await #expect(throws: PairRejection.unsupportedVersion) {
      try await fixture.desk.start(DeskFixture.guess(versions: ["hpeer-pair/0", "hpeer-pair/2"]))
    }
    let status = await fixture.desk.status()
    #expect(status.failures == 0)
    #expect(status.liveSessions == 0)
  }

  /// A wrong length, an invalid point and a wrong proof look the same from outside and cost the same.
  @Test func badSharesCountLikeWrongCodes() async throws {
    for (name, share) in SPAKE2NegativeTests.badShares {
      let fixture = try await DeskFixture()
      _ = try await fixture.desk.open()
      await #expect(throws: PairRejection.wrongCode(attemptsLeft: 4), "\(name)") {
        try await fixture.desk.start(DeskFixture.guess(share: share))
      }
      #expect(
        fixture.world.events.suffix(2) == [.failed(.invalidShare, attemptsLeft: 4), .codeRotated(attemptsLeft: 4)])
      #expect(await fixture.desk.status().liveSessions == 0)
    }
  }

  @Test func proofsOfWrongLengthCountLikeWrongCodes() async throws {
    let fixture = try await DeskFixture()
    _ = try await fixture.desk.open()
    for (cA, left) in [
      ("", 4), ("00", 3), (String(repeating: "00", count: 31), 2), (String(repeating: "00", count: 33), 1),
    ] {
      let session = RadixCoding.hex.encode(try await fixture.beginGuess())
      let request = try JSONDecoder().decode(
        PairFinishRequest.self, from: Data(#"{"session":"\#(session)","cA":"\#(cA)"}"#.utf8))
      await #expect(throws: PairRejection.wrongCode(attemptsLeft: left)) { try await fixture.desk.finish(request) }
    }
  }

  // MARK: Time

  @Test func sessionsDieAfterThirtySeconds() async throws {
    let fixture = try await DeskFixture()
    let confirmation = try await fixture.begin(fixture.desk.open().code)
    fixture.world.advance(30)
    await #expect(throws: PairRejection.sessionExpired) { try await fixture.desk.finish(confirmation.finishRequest) }
    #expect(await fixture.desk.status().failures == 0)
  }

  @Test func windowsDieAfterFiveMinutes() async throws {
    let fixture = try await DeskFixture()
    let window = try await fixture.desk.open()
    #expect(window.expiresAt == fixture.world.time + 300)
    fixture.world.advance(290)
    let confirmation = try await fixture.begin(window.code)
    fixture.world.advance(10)
    await #expect(throws: PairRejection.windowClosed) { try await fixture.desk.finish(confirmation.finishRequest) }
    await #expect(throws: PairRejection.windowClosed) { try await fixture.beginGuess() }
    await #expect(throws: PairRejection.windowClosed) {
      try await fixture.desk.plainPair(code: window.code.digits, deviceName: nil)
    }
    #expect(fixture.world.events.last == .windowClosed(.expired))
    #expect(await fixture.desk.status().window == .closed)
  }

  @Test func aClockSetBackEndsWhatIsOpen() async throws {
    let fixture = try await DeskFixture()
    _ = try await fixture.desk.open()
    fixture.world.advance(-3600)
    #expect(await fixture.desk.status().window == .closed)
  }

  @Test func theTimerClosesAWindowThatNobodyAsksAbout() async throws {
    let directory = try TemporaryDirectory()
    var limits = PairingCoordinator.Limits()
    limits.windowLifetime = 0.05
    let (events, continuation) = AsyncStream.makeStream(of: PairingEvent.self)
    let id = try #require(PeerID(bytes: [UInt8](repeating: 1, count: 16)))
    let desk = try await PairingCoordinator(
      serverID: id, fingerprint: #require(Fingerprint(bytes: [UInt8](repeating: 1, count: 32))),
      directory: directory.url, limits: limits, events: { continuation.yield($0) }, persist: { _ in })
    _ = try await desk.open()
    var iterator = events.makeAsyncIterator()
    #expect(await iterator.next() != nil)
    #expect(await iterator.next() == .windowClosed(.expired))
  }

  // MARK: The window

  @Test func closingEndsAttemptsInFlight() async throws {
    let fixture = try await DeskFixture()
    let confirmation = try await fixture.begin(fixture.desk.open().code)
    await fixture.desk.close()
    await fixture.desk.close()
    await #expect(throws: PairRejection.windowClosed) { try await fixture.desk.finish(confirmation.finishRequest) }
    #expect(fixture.world.events.filter { $0 == .windowClosed(.closedLocally) }.count == 1)
  }

  @Test func openingAgainReplacesTheCodeAndEndsAttempts() async throws {
    let fixture = try await DeskFixture()
    let first = try await fixture.desk.open()
    let confirmation = try await fixture.begin(first.code)
    _ = try await fixture.failOnce()
    let second = try await fixture.desk.open()
    #expect(first.salt != second.salt)
    await #expect(throws: PairRejection.sessionExpired) { try await fixture.desk.finish(confirmation.finishRequest) }
    #expect(await fixture.desk.status().window == .open(expiresAt: second.expiresAt, attemptsLeft: 5))
  }

  @Test func nothingHappensWithoutAWindow() async throws {
    let fixture = try await DeskFixture()
    #expect(await fixture.desk.status().window == .closed)
    #expect(await fixture.desk.currentCode == nil)
    #expect(await fixture.desk.hello().salt == nil)
    await #expect(throws: PairRejection.windowClosed) { try await fixture.beginGuess() }
    await #expect(throws: PairRejection.windowClosed) {
      try await fixture.desk.plainPair(code: "000000", deviceName: nil)
    }
    #expect(fixture.world.events.isEmpty)
  }

  @Test func eventsAndWindowsDoNotTellTheCode() async throws {
    let fixture = try await DeskFixture()
    let window = try await fixture.desk.open()
    _ = try await fixture.failOnce()
    let code = try #require(await fixture.desk.currentCode)
    var dumped = ""
    dump(fixture.world.events, to: &dumped)
    dump(window, to: &dumped)
    dump(await fixture.desk.status(), to: &dumped)
    // Other digits may stand there, in dates, so look for whole words.
    let words = dumped.split { !$0.isNumber }
    #expect(!words.contains { $0 == window.code.digits || $0 == code.digits })
  }
}
