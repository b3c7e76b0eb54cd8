import Foundation
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite struct PairingDurabilityTests {
  // MARK: Retries

  @Test func aRepeatedFinishGetsTheSameReceipt() async throws {
    let fixture = try await DeskFixture()
    let confirmation = try await fixture.begin(fixture.desk.open().code)
    let first = try await fixture.desk.finish(confirmation.finishRequest)
    fixture.world.advance(599)
    #expect(try await fixture.desk.finish(confirmation.finishRequest) == first)
    #expect(fixture.world.clients.count == 1)
    fixture.world.advance(1)
    await #expect(throws: PairRejection.windowClosed) { try await fixture.desk.finish(confirmation.finishRequest) }
  }

  @Test func anotherProofForAFinishedSessionIsAConflict() async throws {
    let fixture = try await DeskFixture()
    let confirmation = try await fixture.begin(fixture.desk.open().code)
    _ = try await fixture.desk.finish(confirmation.finishRequest)
    _ = try await fixture.desk.open()
    await #expect(throws: PairRejection.sessionConflict) {
      try await fixture.finishGuess(confirmation.finishRequest.session)
    }
    #expect(await fixture.desk.status().failures == 0)
  }

  @Test func concurrentRepeatsStoreOnce() async throws {
    let fixture = try await DeskFixture()
    let confirmation = try await fixture.begin(fixture.desk.open().code)
    let request = confirmation.finishRequest
    let responses = try await withThrowingTaskGroup(of: PairFinishResponse.self) { group in
      for _ in 0..<8 { group.addTask { try await fixture.desk.finish(request) } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(responses.count == 1)
    #expect(fixture.world.clients.count == 1)
  }

  /// Two clients use the right code at the same time: one is stored, the other is rejected.
  @Test func concurrentClientsShareOneCode() async throws {
    let fixture = try await DeskFixture()
    let code = try await fixture.desk.open().code
    var confirmations: [PairingClientConfirmation] = []
    for _ in 0..<3 { confirmations.append(try await fixture.begin(code)) }
    let successes = await withTaskGroup(of: Bool.self) { group in
      for confirmation in confirmations {
        group.addTask { (try? await fixture.desk.finish(confirmation.finishRequest)) != nil }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(successes == 1)
    #expect(fixture.world.clients.count == 1)
  }

  // MARK: A store that fails

  @Test func aFailingStoreUsesNothingUp() async throws {
    let fixture = try await DeskFixture()
    let window = try await fixture.desk.open()
    let confirmation = try await fixture.begin(window.code)
    fixture.world.breakStore(true)
    await #expect(throws: PairRejection.temporary) { try await fixture.desk.finish(confirmation.finishRequest) }
    #expect(fixture.world.clients.isEmpty)
    #expect(await fixture.desk.status().window == .open(expiresAt: window.expiresAt, attemptsLeft: 5))

    fixture.world.breakStore(false)
    _ = try await confirmation.verify(fixture.desk.finish(confirmation.finishRequest))
    #expect(fixture.world.clients.count == 1)
  }

  @Test func aFailingStoreUsesNothingUpInPlainPairing() async throws {
    let fixture = try await DeskFixture()
    let code = try await fixture.desk.open().code
    fixture.world.breakStore(true)
    await #expect(throws: PairRejection.temporary) {
      try await fixture.desk.plainPair(code: code.digits, deviceName: nil)
    }
    fixture.world.breakStore(false)
    _ = try await fixture.desk.plainPair(code: code.digits, deviceName: nil)
    #expect(fixture.world.clients.count == 1)
  }

  @Test func aClientThatHangsUpIsStillPairedOrNot() async throws {
    let fixture = try await DeskFixture()
    let confirmation = try await fixture.begin(fixture.desk.open().code)
    let request = Task { try await fixture.desk.finish(confirmation.finishRequest) }
    request.cancel()
    _ = await request.result
    // Whatever the first request met, the repeated one has a whole answer.
    _ = try await confirmation.verify(fixture.desk.finish(confirmation.finishRequest))
    #expect(fixture.world.clients.count == 1)
  }

  // MARK: Restarts

  @Test func theLockSurvivesARestart() async throws {
    let first = try await DeskFixture()
    _ = try await first.desk.open()
    for _ in 0..<5 { _ = try await first.failOnce() }

    let second = try await DeskFixture(directory: first.directory)
    #expect(await second.desk.status().window == .locked)
    await #expect(throws: PairRejection.windowLocked) { try await second.beginGuess() }
    let window = try await second.desk.open()
    #expect(await second.desk.status().window == .open(expiresAt: window.expiresAt, attemptsLeft: 5))

    let third = try await DeskFixture(directory: first.directory)
    #expect(await third.desk.status().window == .closed)
  }

  @Test func failuresAreOnTheDiskBeforeTheyAreAnswered() async throws {
    let first = try await DeskFixture()
    _ = try await first.desk.open()
    for _ in 0..<3 { _ = try await first.failOnce() }
    // As after a crash: the window is gone, the count is not.
    let second = try await DeskFixture(directory: first.directory)
    #expect(await second.desk.status() == .init(window: .closed, liveSessions: 0, failures: 3))
    await #expect(throws: PairRejection.windowClosed) { try await second.beginGuess() }
  }

  @Test func theStateFileIsPrivate() async throws {
    let fixture = try await DeskFixture()
    _ = try await fixture.desk.open()
    _ = try await fixture.failOnce()
    #expect(try fixture.directory.mode("pairing.json") == 0o600)
    let text = try String(contentsOf: fixture.directory.url.appending(path: "pairing.json"), encoding: .utf8)
    #expect(text == #"{"failures":1,"isLocked":false}"#)
  }

  @Test(arguments: ["", "{", "[]", #"{"isLocked":"no"}"#, "\u{0}"])
  func aDamagedStateFileLocks(text: String) async throws {
    let directory = try TemporaryDirectory()
    try Data(text.utf8).write(to: directory.url.appending(path: "pairing.json"))
    let fixture = try await DeskFixture(directory: directory)
    #expect(await fixture.desk.status().window == .locked)
    _ = try await fixture.desk.open()
  }

  @Test func aStateThatCannotBeStoredOpensNoWindow() async throws {
    let fixture = try await DeskFixture()
    // A directory in the place of the file to be written.
    try FileManager.default.createDirectory(
      at: fixture.directory.url.appending(path: "pairing.json.new/x"), withIntermediateDirectories: true)
    await #expect(throws: PairingDeskError.self) { try await fixture.desk.open() }
    #expect(await fixture.desk.status().window == .closed)
    #expect(fixture.world.events.isEmpty)
  }

  @Test func aCountThatCannotBeStoredLocks() async throws {
    let fixture = try await DeskFixture()
    _ = try await fixture.desk.open()
    let session = try await fixture.beginGuess()
    try FileManager.default.createDirectory(
      at: fixture.directory.url.appending(path: "pairing.json.new/x"), withIntermediateDirectories: true)
    await #expect(throws: PairRejection.wrongCode(attemptsLeft: 0)) { try await fixture.finishGuess(session) }
    #expect(await fixture.desk.status().window == .locked)
    #expect(fixture.world.events.last == .windowLocked)
  }
}
