import Foundation
import HealthModel
import HealthStore
import NIOCore
import PeerProtocol
import Testing

@testable import PeerClient
@testable import PeerTrust

@Suite("Pulling from a machine with another person's record")
struct PersonPullTests {
  private static let birth = "1986-05-17"
  private static let otherBirth = "1987-03-01"

  /// A paired client with a registry.
  private struct Client {
    let server: TestServer
    let record: ServerRecord
    let store: HealthStore
    let registry: PeerRegistry

    func pull(merges: Bool = false, full: Bool = false) async throws -> PullProgress {
      try await Pull(
        into: store, from: record, at: server.endpoint, persons: PersonCheck(registry, merges: merges)
      ).run(full: full)
    }

    /// Returns the agreement that `pull` requests, and whether the persons are different, or `nil` if it doesn't
    /// refuse.
    func refusal(full: Bool = false) async throws -> (agreement: PersonAnswer.Verdict, PersonAgreement)? {
      do {
        _ = try await pull(full: full)
        return nil
      } catch PeerError.anotherPerson(_, let agreement) {
        return (.different, agreement)
      } catch PeerError.personUnknown(_, let agreement) {
        return (.unknown, agreement)
      }
    }

    func comparisons() async throws -> Int { try await server.audited(.personCompared).count }
  }

  private func withPair(
    _ serverSamples: [Sample], _ clientSamples: [Sample], _ body: @Sendable (Client) async throws -> Void
  ) async throws {
    try await withServer(ServerOptions(samples: serverSamples)) { server in
      try await withTemporaryDirectory { directory in
        let registry = try await PeerRegistry.open(in: directory)
        let store = try HealthStore(directory: directory.path)
        if !clientSamples.isEmpty { try await store.apply(ChangeBatch(additions: clientSamples)) }
        let record = try await server.record().server
        try await registry.addServer(record)
        try await body(Client(server: server, record: record, store: store, registry: registry))
      }
    }
  }

  @Test("the same person's record is compared once, and pulled without a further round trip then")
  func same() async throws {
    let samples = Persons.readings(Self.birth) + Samples.heartRates(10)
    try await withPair(samples, Persons.readings(Self.birth, blood: "HKBloodTypeAPositive")) { client in
      let first = try await client.pull()
      #expect(first.added == 10)
      for _ in 0..<3 { #expect(try await client.pull().changes == 0) }
      #expect(try await client.comparisons() == 1)
    }
  }

  @Test("another person's record is refused, and nothing is stored, whatever was asked for")
  func different() async throws {
    let samples = Persons.readings(Self.otherBirth) + Samples.heartRates(10)
    try await withPair(samples, Persons.readings(Self.birth)) { client in
      let before = try await client.store.feed.currentAnchor()
      for full in [false, true, false] {
        #expect(try await client.refusal(full: full)?.agreement == .different)
      }
      #expect(try await client.store.feed.currentAnchor() == before)
      #expect(try await client.store.feed.position(of: "pull:\(client.record.id.hex)") == nil)
      #expect(try await client.server.audited(.dataRead, .readStarted).isEmpty)
      // The same claim is one claim.
      #expect(Set(try await client.server.audited(.personCompared).map { $0.detail["claims"] }) == ["1"])
    }
  }

  @Test("a date of birth that was corrected there is confirmed once")
  func correctedThere() async throws {
    let samples = Persons.readings(Self.birth) + Samples.heartRates(10)
    try await withPair(samples, Persons.readings(Self.birth)) { client in
      #expect(try await client.pull().added == 10)
      try await client.server.store.add(readings: Persons.readings(Self.otherBirth, day: 1))
      let refusal = try #require(try await client.refusal())
      #expect(refusal.agreement == .different)
      #expect(try await client.store.person()[.dateOfBirth] == Self.birth)
      try await PersonCheck(client.registry).confirm(refusal.1, with: client.record, in: client.store)
      #expect(try await client.pull().added == 1)
      #expect(try await client.store.person()[.dateOfBirth] == Self.otherBirth)
      let comparisons = try await client.comparisons()
      #expect(try await client.pull().changes == 0)
      #expect(try await client.pull().changes == 0)
      // Its own person is another now, and that is compared once.
      #expect(try await client.comparisons() == comparisons + 1)
    }
  }

  @Test("one that was corrected here is confirmed once, too, and a third is asked about again")
  func correctedHere() async throws {
    let samples = Persons.readings(Self.birth) + Samples.heartRates(10)
    try await withPair(samples, Persons.readings(Self.otherBirth, day: 1)) { client in
      #expect(try await client.refusal()?.agreement == .different)
      _ = try await client.pull(merges: true)
      #expect(try await client.store.person()[.dateOfBirth] == Self.otherBirth)
      let comparisons = try await client.comparisons()
      for _ in 0..<2 { #expect(try await client.pull().changes == 0) }
      #expect(try await client.comparisons() == comparisons)
      try await client.server.store.add(readings: Persons.readings("1999-09-09", day: 2))
      #expect(try await client.refusal()?.agreement == .different)
      #expect(try await client.store.audit.records().count { $0.event == "person.confirmed" } == 1)
    }
  }

  @Test("where nobody can tell it is asked about once, and remembered for this machine")
  func unknown() async throws {
    try await withPair(Samples.heartRates(10), Persons.readings(Self.birth)) { client in
      let refusal = try #require(try await client.refusal())
      #expect(refusal.agreement == .unknown)
      #expect(try await client.store.total() == 1)
      try await PersonCheck(client.registry).confirm(refusal.1, with: client.record, in: client.store)
      #expect(try await client.pull().added == 10)
      #expect(try await client.pull().changes == 0)
      // The other machine learns whose its record is.
      try await client.server.store.add(readings: Persons.readings(Self.birth))
      #expect(try await client.pull().unchanged == 1)
      try await client.server.store.add(readings: Persons.readings(Self.otherBirth, day: 1))
      #expect(try await client.refusal()?.agreement == .different)
    }
    // This machine does not know, and does not ask.
    try await withPair(Persons.readings(Self.birth), Samples.heartRates(1)) { client in
      let refusal = try #require(try await client.refusal())
      #expect(refusal.agreement == .unknown)
      let merged = try await client.pull(merges: true)
      #expect(merged.added == 1)
      #expect(try await client.comparisons() == 0)
      #expect(try await client.pull().changes == 0)
      #expect(try await client.comparisons() == 1)
    }
  }

  @Test("an empty store takes what there is, and a store that has pulled from there goes on")
  func obvious() async throws {
    let samples = Persons.readings(Self.birth) + Samples.heartRates(10)
    try await withPair(samples, []) { client in
      let first = try await client.pull()
      #expect(first.added == 11)
      #expect(try await client.pull().changes == 0)
      #expect(try await client.server.audited(.personCompared).map { $0.detail["person"] } == ["same"])
    }
    try await withPair(Samples.heartRates(10), []) { client in
      // As versions did that knew of no persons.
      _ = try await Pull(into: client.store, from: client.record, at: client.server.endpoint).run()
      try await client.store.add(readings: Persons.readings(Self.birth))
      #expect(try await client.pull().changes == 0)
      #expect(try await client.pull(full: true).unchanged == 10)
    }
  }

  @Test("a record that becomes another person's while it is followed ends the following before anything of it comes")
  func whileFollowed() async throws {
    let samples = Persons.readings(Self.birth) + Samples.heartRates(10)
    try await withPair(samples, Persons.readings(Self.birth)) { client in
      let finder = PeerFinder(
        registry: client.registry, ownID: try makePeerID(), firstHandshake: .seconds(30), escape: { $0 })
      let follow = Follow(
        into: client.store, from: client.record, finder: finder, persons: PersonCheck(client.registry))
      let task = Task { try await follow.run(endpoints: [client.server.endpoint]) { _ in } }
      _ = try await eventually { try await client.store.total() == 11 ? true : nil }
      try await client.server.store.add(readings: Persons.readings(Self.otherBirth, day: 1))
      try await client.server.store.apply(ChangeBatch(additions: [Samples.quantity(Samples.stepCount, 1, "count")]))
      guard case .failure(let error) = await task.result, case PeerError.anotherPerson? = error as? PeerError else {
        Issue.record("it went on")
        return
      }
      #expect(try await client.store.total() == 11)
      #expect(try await client.store.person()[.dateOfBirth] == Self.birth)
    }
  }

  @Test("that it is the same person is said once, and not of whoever comes later while it is followed")
  func mergedWhileFollowed() async throws {
    let samples = Persons.readings(Self.birth) + Samples.heartRates(10)
    try await withPair(samples, Persons.readings(Self.otherBirth, day: 1)) { client in
      let finder = PeerFinder(
        registry: client.registry, ownID: try makePeerID(), firstHandshake: .seconds(30), escape: { $0 })
      let follow = Follow(
        into: client.store, from: client.record, finder: finder, persons: PersonCheck(client.registry, merges: true))
      let task = Task { try await follow.run(endpoints: [client.server.endpoint]) { _ in } }
      _ = try await eventually { try await client.store.total() == 11 ? true : nil }
      try await client.server.store.add(readings: Persons.readings("1999-09-09", day: 2))
      guard case .failure(let error) = await task.result, case PeerError.anotherPerson? = error as? PeerError else {
        Issue.record("it went on")
        return
      }
      #expect(try await client.store.person()[.dateOfBirth] == Self.otherBirth)
      #expect(try await client.store.audit.records().count { $0.event == "person.confirmed" } == 1)
    }
  }

  /// Follows into the empty store of `client` until the server holds a request, runs `happen`, and returns the error
  /// that ended the following.
  private func followed(_ client: Client, until happen: () async throws -> Void) async throws -> (any Error)? {
    let finder = PeerFinder(
      registry: client.registry, ownID: try makePeerID(), firstHandshake: .seconds(30), escape: { $0 })
    let follow = Follow(into: client.store, from: client.record, finder: finder, persons: PersonCheck(client.registry))
    let task = Task { try await follow.run(endpoints: [client.server.endpoint]) { _ in } }
    _ = try await eventually { try await client.server.audited(.followStarted).isEmpty ? nil : true }
    try await happen()
    guard case .failure(let error) = await task.result else { return nil }
    return error
  }

  @Test(
    "what another pull or an import fills an empty store with meanwhile is compared before anything is added to it",
    arguments: [true, false])
  func filledMeanwhile(isTold: Bool) async throws {
    try await withPair([], []) { client in
      let error = try await followed(client) {
        // Another machine's, of which it is not told yet whose it is: the person may come last.
        let first = isTold ? Persons.readings(Self.birth) : []
        try await client.store.apply(ChangeBatch(additions: first + Samples.heartRates(3)))
        try await client.server.store.apply(
          ChangeBatch(additions: Persons.readings(Self.otherBirth) + Samples.heartRates(5)))
      }
      switch error as? PeerError {
      case .anotherPerson?: #expect(isTold)
      case .personUnknown?: #expect(!isTold)
      default: Issue.record("\(String(describing: error))")
      }
      #expect(try await client.store.total() == (isTold ? 4 : 3))
      #expect(try await client.store.feed.position(of: "pull:\(client.record.id.hex)") == nil)
    }
  }

  @Test("of the same person, what fills an empty store meanwhile is no obstacle")
  func filledMeanwhileBySame() async throws {
    try await withPair([], []) { client in
      let readings = Persons.readings(Self.birth)
      _ = try await followed(client) {
        try await client.store.apply(ChangeBatch(additions: readings + Samples.heartRates(3)))
        try await client.server.store.apply(ChangeBatch(additions: readings + Samples.heartRates(5)))
        _ = try await eventually { try await client.store.total() == 9 ? true : nil }
        try await client.server.registry.revoke(id: client.server.registry.clients()[0].id)
      }
    }
  }

  @Test("a pull of nothing is no agreement, and none that anything was taken in")
  func pulledNothing() async throws {
    for own in [Persons.readings(Self.birth) + Samples.heartRates(3), Samples.heartRates(3)] {
      try await withPair([], []) { client in
        #expect(try await client.pull().changes == 0)
        #expect(try await client.registry.personAgreement(with: client.record.id) == nil)
        try await client.store.apply(ChangeBatch(additions: own))
        try await client.server.store.apply(ChangeBatch(additions: Samples.heartRates(5)))
        #expect(try await client.refusal()?.agreement == .unknown)
        #expect(try await client.store.total() == own.count)
      }
    }
  }

  @Test(
    "a pairing that has used up its claims is not pulled over, whatever was pulled before", arguments: [false, true])
  func exhausted(hasPulled: Bool) async throws {
    try await withPair(Persons.readings(Self.birth), Persons.readings(Self.birth)) { client in
      if hasPulled {
        _ = try await Pull(into: client.store, from: client.record, at: client.server.endpoint).run()
      }
      for year in 1990..<1993 {
        let claim = try #require(
          PersonKey(client.record.credential)?.claim(of: Persons.person("\(year)-01-01")))
        let body = String(decoding: try JSONEncoder().encode(claim), as: UTF8.self)
        let token = try #require(BearerToken(text: client.record.credential.text))
        #expect(try await client.server.request(.POST, Route.person, token: token, json: body).status == 200)
      }
      await #expect(throws: PeerError.personNotCompared(peer: client.record.name)) { _ = try await client.pull() }
      #expect(try await client.pull(merges: true).changes == (hasPulled ? 0 : 1))
      #expect(try await client.pull().changes == 0)
    }
  }

  /// Pulls from a server with custom answers. Returns the error, the number of stored samples and the requests.
  private func pull(
    _ answer: @escaping @Sendable (_ request: String) -> ByteBuffer
  ) async throws -> (error: (any Error)?, stored: Int, requests: [String]) {
    let identity = try await makeIdentity()
    return try await withCannedServer(
      tls: identity,
      answer: { request, outbound in try await outbound.write(answer(request)) }
    ) { port, requests in
      try await withTemporaryDirectory { directory in
        let registry = try await PeerRegistry.open(in: directory)
        let store = try HealthStore(directory: directory.path)
        try await store.apply(ChangeBatch(additions: Persons.readings(Self.birth)))
        let record = ServerRecord(
          id: identity.id, name: "studio", fingerprint: identity.fingerprint, credential: BearerCredential(.random()))
        try await registry.addServer(record)
        var failure: (any Error)?
        do {
          _ = try await Pull(
            into: store, from: record, at: PeerEndpoint(host: "127.0.0.1", port: port), persons: PersonCheck(registry)
          ).run()
        } catch {
          failure = error
        }
        return (failure, try await store.total(), requests())
      }
    }
  }

  @Test("a server of before persons were compared is one that cannot tell")
  func olderServer() async throws {
    let (error, stored, requests) = try await pull { _ in
      httpResponse(#"{"success":false,"error":"Not Found"}"#, status: "404 Not Found")
    }
    guard case PeerError.personUnknown(_, let agreement)? = error as? PeerError else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(agreement.mark == nil)
    #expect(stored == 1)
    #expect(requests.allSatisfy { $0.hasPrefix("POST \(Route.person) ") }, "\(requests)")
    #expect(requests.allSatisfy { !$0.contains("1986") })
  }

  @Test("a server that never agrees with its own mark, or gives one that is none, is left")
  func lyingServer() async throws {
    let endless = try await pull { request in
      request.contains("GET \(Route.changes)")
        ? httpResponse(#"{"success":false,"error":"no"}"#, status: "412 Precondition Failed")
        : httpResponse(#"{"success":true,"data":{"person":"same","mark":"abcd"}}"#)
    }
    #expect(endless.error as? PeerError == .unexpectedAnswer(status: 412, message: "no"))
    #expect(endless.requests.count == 4)
    let injected = try await pull { _ in
      httpResponse(#"{"success":true,"data":{"person":"same","mark":"a\r\nX-Other: 1"}}"#)
    }
    guard case PeerError.unexpectedAnswer(200, _)? = injected.error as? PeerError else {
      Issue.record("\(String(describing: injected.error))")
      return
    }
    #expect(injected.requests.count == 1)
  }
}
