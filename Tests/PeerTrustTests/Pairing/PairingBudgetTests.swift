import Foundation
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite struct PairingBudgetTests {
  @Test func fiveFailuresLock() async throws {
    let fixture = try await DeskFixture()
    _ = try await fixture.desk.open()
    for left in [4, 3, 2, 1, 0] { #expect(try await fixture.failOnce() == .wrongCode(attemptsLeft: left)) }
    #expect(fixture.world.events.suffix(2) == [.failed(.wrongCode, attemptsLeft: 0), .windowLocked])
    #expect(await fixture.desk.status().window == .locked)
    #expect(await fixture.desk.currentCode == nil)
  }

  @Test func aRemoteCannotReopen() async throws {
    let fixture = try await DeskFixture()
    let window = try await fixture.desk.open()
    let waiting = try await fixture.begin(window.code)
    for _ in 0..<4 { _ = try await fixture.failOnce() }
    // The waiting session reserves the last attempt, so nobody else can begin one.
    await #expect(throws: PairRejection.tooManySessions) { try await fixture.beginGuess() }
    await #expect(throws: PairRejection.tooManySessions) {
      try await fixture.desk.plainPair(code: "000000", deviceName: nil)
    }
    await #expect(throws: PairRejection.wrongCode(attemptsLeft: 0)) {
      try await fixture.finishGuess(waiting.finishRequest.session)
    }
    fixture.world.advance(86_400)
    await #expect(throws: PairRejection.windowLocked) { try await fixture.beginGuess() }
    await #expect(throws: PairRejection.windowLocked) { try await fixture.desk.finish(waiting.finishRequest) }
    await #expect(throws: PairRejection.windowLocked) {
      try await fixture.desk.plainPair(code: window.code.digits, deviceName: nil)
    }
    #expect(await !fixture.desk.hello().windowOpen)
    await fixture.desk.close()
    #expect(await fixture.desk.status().window == .locked)

    let next = try await fixture.desk.open()
    #expect(await fixture.desk.status().window == .open(expiresAt: next.expiresAt, attemptsLeft: 5))
  }

  /// Concurrent guessers try as often as they can: exactly five guesses are checked, in any order.
  @Test(arguments: [true, false])
  func aCrowdGetsFiveGuesses(isFromOneAddress: Bool) async throws {
    let fixture = try await DeskFixture()
    _ = try await fixture.desk.open()
    let outcomes = await withTaskGroup(of: [PairRejection].self) { group in
      for number in 0..<(isFromOneAddress ? 3 : 12) {
        let caller = isFromOneAddress ? "one" : "\(number)"
        group.addTask {
          var seen: [PairRejection] = []
          while seen.last != .windowLocked {
            do throws(PairRejection) {
              let session: [UInt8]
              guard let request = try? DeskFixture.guess() else { break }
              session = try await fixture.desk.start(request, from: caller).session
              guard let proof = try? PairFinishRequest(session: session, cA: [UInt8](repeating: 0, count: 32)) else {
                break
              }
              _ = try await fixture.desk.finish(proof)
              Issue.record("a guess succeeded")
            } catch {
              seen.append(error)
              await Task.yield()
            }
          }
          return seen
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    let evaluated = outcomes.compactMap { if case .wrongCode(let left) = $0 { left } else { nil } }
    #expect(evaluated.sorted() == [0, 1, 2, 3, 4])
    #expect(fixture.world.events.filter { if case .failed = $0 { true } else { false } }.count == 5)
    #expect(fixture.world.clients.isEmpty)
  }

  /// Four concurrent sessions finish at the same time with a wrong proof, twice in a row.
  @Test func sessionsInFlightAreCounted() async throws {
    let fixture = try await DeskFixture()
    _ = try await fixture.desk.open()
    var sessions: [[UInt8]] = []
    for _ in 0..<4 { sessions.append(try await fixture.beginGuess()) }
    await #expect(throws: PairRejection.tooManySessions) { try await fixture.beginGuess() }
    #expect(await fixture.desk.status().liveSessions == 4)
    await withTaskGroup(of: Void.self) { group in
      for session in sessions + sessions { group.addTask { _ = try? await fixture.finishGuess(session) } }
    }
    #expect(await fixture.desk.status().failures == 4)
    #expect(await fixture.desk.status().liveSessions == 0)
    let last = try await fixture.beginGuess()
    await #expect(throws: PairRejection.tooManySessions) { try await fixture.beginGuess() }
    await #expect(throws: PairRejection.wrongCode(attemptsLeft: 0)) { try await fixture.finishGuess(last) }
  }

  @Test("a caller that begins again and again has one place, and its newest attempt is the one that counts")
  func oneCallerHasOnePlace() async throws {
    let fixture = try await DeskFixture()
    let code = try await fixture.desk.open().code
    let first = try await fixture.beginGuess(from: "a")
    for _ in 0..<20 { _ = try await fixture.beginGuess(from: "a") }
    #expect(await fixture.desk.status().liveSessions == 1)
    let confirmation = try await fixture.begin(code)
    #expect(await fixture.desk.status().liveSessions == 2)
    #expect(!fixture.world.events.contains { if case .keptOut = $0 { true } else { false } })
    await #expect(throws: PairRejection.sessionExpired) { try await fixture.finishGuess(first) }
    #expect(fixture.world.events.last.map { if case .keptOut("a", _) = $0 { true } else { false } } == true)
    #expect(await fixture.desk.status().failures == 0)
    _ = try await fixture.desk.finish(confirmation.finishRequest)
    #expect(fixture.world.clients.count == 1)
  }

  @Test("one caller cannot hold the last place either, for more than some seconds")
  func theLastPlace() async throws {
    let fixture = try await DeskFixture()
    _ = try await fixture.desk.open()
    for _ in 0..<4 { _ = try await fixture.failOnce() }
    let held = try await fixture.beginGuess(from: "a")
    await #expect(throws: PairRejection.tooManySessions) { try await fixture.beginGuess(from: "b") }
    #expect(fixture.world.events.last == .keptOut(caller: "b", holders: ["a"]))
    fixture.world.advance(5)
    let code = try #require(await fixture.desk.currentCode)
    let confirmation = try await fixture.begin(code)
    #expect(await fixture.desk.status().liveSessions == 1)
    await #expect(throws: PairRejection.sessionExpired) { try await fixture.finishGuess(held) }
    _ = try await fixture.desk.finish(confirmation.finishRequest)
    #expect(fixture.world.clients.count == 1)
  }

  @Test("whoever is kept out by four others is reported with them, and costs no attempt")
  func keptOut() async throws {
    let fixture = try await DeskFixture()
    let code = try await fixture.desk.open().code
    for caller in ["d", "b", "c", "a"] { _ = try await fixture.beginGuess(from: caller) }
    await #expect(throws: PairRejection.tooManySessions) {
      try await fixture.desk.plainPair(code: code.digits, deviceName: nil, from: "e")
    }
    #expect(fixture.world.events.last == .keptOut(caller: "e", holders: ["a", "b", "c", "d"]))
    #expect(await fixture.desk.status().failures == 0)
    // A flood of them leaves room for what else is reported.
    for _ in 0..<200 {
      await #expect(throws: PairRejection.tooManySessions) { try await fixture.beginGuess(from: "f") }
    }
    #expect(fixture.world.events.filter { if case .keptOut = $0 { true } else { false } }.count == 1)
    fixture.world.advance(4.5)
    await #expect(throws: PairRejection.tooManySessions) { try await fixture.beginGuess(from: "e") }
    fixture.world.advance(0.5)
    // One place is given up, not all of them.
    _ = try await fixture.beginGuess(from: "e")
    #expect(await fixture.desk.status().liveSessions == 4)
  }

  /// The server sends nothing derived from the key before it has the proof, so an aborted start reveals nothing and
  /// costs nothing.
  @Test func abandonedSessionsGiveTheirAttemptBack() async throws {
    let fixture = try await DeskFixture()
    _ = try await fixture.desk.open()
    for _ in 0..<4 { _ = try await fixture.beginGuess() }
    fixture.world.advance(30)
    #expect(await fixture.desk.status().liveSessions == 0)
    let code = try #require(await fixture.desk.currentCode)
    let confirmation = try await fixture.begin(code)
    _ = try await fixture.desk.finish(confirmation.finishRequest)
    #expect(fixture.world.clients.count == 1)
  }

  /// A concurrent failure replaces the code on the screen, but doesn't end an attempt in progress.
  @Test func anAttemptInFlightSurvivesAnothersFailure() async throws {
    let fixture = try await DeskFixture()
    let confirmation = try await fixture.begin(fixture.desk.open().code)
    _ = try await fixture.failOnce()
    _ = try await confirmation.verify(fixture.desk.finish(confirmation.finishRequest))
    #expect(fixture.world.clients.count == 1)
  }

  // MARK: Plain pairing

  @Test func plainPairingDrawsOnTheSameCode() async throws {
    let fixture = try await DeskFixture()
    let window = try await fixture.desk.open()
    let paired = try await fixture.desk.plainPair(code: window.code.digits, deviceName: "Mac")
    let client = try #require(fixture.world.clients.first)
    #expect(client.id == paired.clientID)
    #expect(client.tokenHash == paired.token.hash)
    #expect(client.name == "Mac")
    #expect(client.method == .plain)
    #expect(client.expiresAt == paired.expiresAt)
    await #expect(throws: PairRejection.windowClosed) {
      try await fixture.desk.plainPair(code: window.code.digits, deviceName: "Mac")
    }
  }

  @Test func plainFailuresDrawOnTheSameBudget() async throws {
    let fixture = try await DeskFixture()
    let window = try await fixture.desk.open()
    let guesses = ["", "12345", try DeskFixture.wrong(window.code).digits, String(repeating: "9", count: 100_000)]
    for (guess, left) in zip(guesses, [4, 3, 2, 1]) {
      await #expect(throws: PairRejection.wrongCode(attemptsLeft: left)) {
        try await fixture.desk.plainPair(code: guess, deviceName: nil)
      }
    }
    #expect(try await fixture.failOnce() == .wrongCode(attemptsLeft: 0))
    #expect(await fixture.desk.status().window == .locked)
  }

  @Test(arguments: [nil, "", String(repeating: "x", count: 70_000), "\u{1b}[2J"])
  func plainNamesAreTrimmed(name: String?) async throws {
    let fixture = try await DeskFixture()
    let code = try await fixture.desk.open().code
    _ = try await fixture.desk.plainPair(code: code.digits, deviceName: name)
    let stored = try #require(fixture.world.clients.first).name
    #expect((1...64).contains(stored.utf8.count))
    #expect(!stored.contains("\u{1b}"))
  }
}
