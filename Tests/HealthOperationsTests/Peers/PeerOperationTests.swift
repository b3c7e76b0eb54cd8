import Foundation
import HealthModel
import HealthOperations
import HealthStore
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

/// Tests with two homes on the same machine: one serves, the other pairs, pulls and compares.
@Suite struct PeerOperationTests {
  private let studio: TestHome
  private let laptop: TestHome

  init() async throws {
    (studio, laptop) = (try TestHome(), try TestHome())
    try await studio.fill(20)
  }

  @Test func pairedPulledAndFoundEqualWithAllOfItInTheAuditLogs() async throws {
    let laptop = laptop
    let told = try await ServedHome.run(studio) { served in
      let local = try await laptop.local(name: "laptop")
      let server = try await PairOperation(local).run(with: [], code: .payload(try await served.window()))
      #expect(server.name == "studio")
      let pull = PullOperation(local, finder: local.finder, persons: PersonCheck(local.registry))
      let result = try await pull.run(from: server, at: PeerFinder.hint(of: server))
      #expect(result.done.added == 20)
      #expect(try await laptop.count() == 20)
      let again = try await pull.run(
        from: server, at: PeerFinder.hint(of: server),
        comparingBy: VerifyOperation(local, finder: local.finder, isDeep: true))
      #expect(again.0.done.added == 0)
      #expect(again.1.isEqual)
      await served.hears("pairing.succeeded")
      return served.told
    }
    #expect(
      try await laptop.auditedNames()
        == [
          "pairing.succeeded", "pull.started", "pull.finished", "pull.started", "pull.finished", "verify.finished",
        ])
    let pulled = try #require(try await laptop.audited().first { $0.event == "pull.finished" })
    #expect(pulled.detail["peer"] == "studio")
    #expect(pulled.detail["added"] == "20")
    let names = try await studio.auditedNames()
    #expect(names.contains("server.started"))
    #expect(names.last == "server.stopped")
    // A window and a pairing are written down before anybody is told.
    for event in ["window.opened", "pairing.succeeded"] {
      let first = try #require(told.first { $0.event == event }, "nobody was told of \(event)")
      #expect(first.audited.contains(event))
    }
    #expect(told.first?.event == "listening")
  }

  @Test("the home zone that a server's owner chose is told to a machine that may read everything, and to no other")
  func homeZone() async throws {
    let laptop = laptop
    try await ServedHome.run(studio) { served in
      let local = try await laptop.local(name: "laptop")
      let server = try await PairOperation(local).run(with: [], code: .payload(try await served.window()))
      let pull = PullOperation(local, finder: local.finder, persons: PersonCheck(local.registry))
      _ = try await pull.run(from: server, at: PeerFinder.hint(of: server))
      #expect(await pull.homeZone(of: server) == nil)
      try await served.local.store.settings.setHomeZone("Asia/Kolkata")
      #expect(await pull.homeZone(of: server)?.identifier == "Asia/Kolkata")
      let client = try #require(try await served.local.registry.clients().first)
      try await served.local.registry.setScope(SampleFilter(types: [AppleExportText.heartRate]), ofClient: client.id)
      #expect(await pull.homeZone(of: server) == nil)
      try await served.local.registry.setScope(.everything, ofClient: client.id)
      try await served.local.registry.setOnlyDaily(true, ofClient: client.id)
      #expect(await pull.homeZone(of: server) == nil)
    }
  }

  @Test func aWrongCodeIsAskedForAgainAndRecorded() async throws {
    let laptop = laptop
    try await ServedHome.run(studio) { served in
      let local = try await laptop.local(name: "laptop")
      let payload = try await served.window()
      let wrong = try #require(PairingCode(payload.code.digits == "000000" ? "000001" : "000000"))
      struct Gone: Error {}
      // Nothing of use, which costs no attempt, then a wrong code, and then somebody goes away.
      let typing = Typing([nil, .digits(wrong)])
      await #expect(throws: Gone.self) {
        try await PairOperation(local).run(
          with: [PeerEndpoint(host: "127.0.0.1", port: served.port)],
          code: .asked { peer in
            #expect(peer == "studio")
            guard let answer = await typing.next() else { throw Gone() }
            return answer
          })
      }
      await served.hears("pairing.failed")
    }
    let failures = try await laptop.audited()
    #expect(failures.map(\.event) == ["pairing.failed"])
    #expect(failures.first?.detail["reason"] == "wrong_code")
    #expect(try await studio.auditedNames().contains("pairing.failed"))
  }

  @Test func aMachineWhoseRightIsTakenAwayIsRefusedAndSoRecorded() async throws {
    let (studio, laptop) = (studio, laptop)
    try await ServedHome.run(studio) { served in
      let local = try await laptop.local(name: "laptop")
      let server = try await PairOperation(local).run(with: [], code: .payload(try await served.window()))
      let rights = ClientRights(served.local.registry, auditedIn: studio.store)
      #expect(try await rights.revoke(matching: "laptop").name == "laptop")
      let pull = PullOperation(local, finder: local.finder, persons: PersonCheck(local.registry))
      await #expect(throws: PeerError.tokenRefused(peer: "studio")) {
        try await pull.run(from: server, at: PeerFinder.hint(of: server))
      }
    }
    #expect(try await studio.auditedNames().contains("token.revoked"))
    let failed = try #require(try await laptop.audited().last)
    #expect(failed.event == "pull.failed")
    #expect(failed.detail["reason"] == "token_refused")
    #expect(try await laptop.store.isEmpty())
  }

  @Test func whatAMachineMayReadIsLimitedAndRecorded() async throws {
    let (studio, laptop) = (studio, laptop)
    try await ServedHome.run(studio) { served in
      let local = try await laptop.local(name: "laptop")
      let server = try await PairOperation(local).run(with: [], code: .payload(try await served.window()))
      let registry = served.local.registry
      let client = try await registry.client(matching: "laptop")
      let steps = SampleType("HKQuantityTypeIdentifierStepCount")
      try await ClientRights(registry, auditedIn: studio.store).limit(client, to: SampleFilter(types: [steps]))
      let pull = PullOperation(local, finder: local.finder, persons: PersonCheck(local.registry))
      #expect(try await pull.run(from: server, at: PeerFinder.hint(of: server)).done.added == 0)
    }
    let event = try #require(try await studio.audited().first { $0.event == "scope.changed" })
    #expect(event.detail["types"] == "stepCount")
  }

  @Test func whoIsFollowedIsReportedUntilTheTaskIsCancelled() async throws {
    let (studio, laptop) = (studio, laptop)
    try await ServedHome.run(studio) { served in
      let local = try await laptop.local(name: "laptop")
      let server = try await PairOperation(local).run(with: [], code: .payload(try await served.window()))
      let pull = PullOperation(local, finder: local.finder, persons: PersonCheck(local.registry))
      let (events, tell) = AsyncStream.makeStream(of: FollowEvent.self)
      let following = Task {
        try await FollowOperation(pull) { _, event in tell.yield(event) }
          .run([(server, PeerFinder.hint(of: server))])
      }
      var came = 0
      for await event in events {
        if case .came(let new) = event { came += new.added }
        if case .upToDate = event { break }
      }
      #expect(came == 20)
      following.cancel()
      let result = try await following.value
      #expect(result.total.added == 20)
      #expect(result.failure == nil)
    }
    #expect(try await laptop.auditedNames().last == "pull.finished")
  }

  @Test func whatAListenerThrowsEndsFollowing() async throws {
    struct Deaf: Error {}
    let laptop = laptop
    try await ServedHome.run(studio) { served in
      let local = try await laptop.local(name: "laptop")
      let server = try await PairOperation(local).run(with: [], code: .payload(try await served.window()))
      let pull = PullOperation(local, finder: local.finder, persons: PersonCheck(local.registry))
      await #expect(throws: Deaf.self) {
        try await FollowOperation(pull) { _, _ in throw Deaf() }.run([(server, PeerFinder.hint(of: server))])
      }
    }
    #expect(try await laptop.auditedNames().last == "pull.finished")
  }

  @Test func twoServersOfOneHomeAreRefused() throws {
    let lock = try ServeLock(studio.home)
    defer { lock.release() }
    #expect(throws: ServeLockError.held(by: getpid())) { try ServeLock(studio.home) }
  }
}

/// A list of typed answers that are returned one after the other.
private actor Typing {
  private var answers: [PairOperation.TypedCode?]

  init(_ answers: [PairOperation.TypedCode?]) { self.answers = answers }

  /// Returns the next answer, or `nil` if there are no more.
  func next() -> PairOperation.TypedCode?? {
    answers.isEmpty ? nil : .some(answers.removeFirst())
  }
}
