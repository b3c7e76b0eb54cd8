import Foundation
import HealthModel
import HealthStore
import PeerClient
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite("Whose record it is, over the wire")
struct PersonRouteTests {
  private static let birth = "1986-05-17"

  private func claim(_ person: Person, _ token: BearerToken) throws -> String {
    let claim = try #require(PersonKey(token.hash).claim(of: person))
    return String(decoding: try JSONEncoder().encode(claim), as: UTF8.self)
  }

  private func ask(_ server: TestServer, _ person: Person, _ token: BearerToken) async throws -> PersonAnswer {
    let answer = try await server.request(.POST, Route.person, token: token, json: claim(person, token))
    try #require(answer.status == 200, "\(answer.text)")
    #expect(answer.headers.first(name: "Cache-Control") == "no-store")
    return try JSONDecoder().decode(Envelope<PersonAnswer>.self, from: answer.body).data
  }

  @Test("same, different and unknown are told, and written down")
  func verdicts() async throws {
    let readings = Persons.readings(Self.birth, sex: "HKBiologicalSexFemale")
    try await withServer(ServerOptions(samples: readings + Samples.heartRates(3))) { server in
      let (id, token) = try await server.token()
      let same = try await ask(server, Persons.person(Self.birth, blood: "HKBloodTypeAPositive"), token)
      #expect(same.verdict == .same)
      let different = try await ask(server, Persons.person(Self.birth, sex: "HKBiologicalSexMale"), token)
      #expect(different.verdict == .different)
      #expect(different.mark == same.mark && same.mark != nil)
      let audited = try await server.audited(.personCompared)
      #expect(
        audited.map(\.detail) == [
          ["peer": "laptop", "id": id.hex, "person": "same", "claims": "1"],
          ["peer": "laptop", "id": id.hex, "person": "different", "claims": "2"],
        ])
    }
    try await withServer(ServerOptions(samples: Samples.heartRates(3))) { server in
      let token = try await server.token().token
      #expect(try await ask(server, Persons.person(Self.birth), token).verdict == .unknown)
    }
  }

  @Test(
    "a birthday is not found out by trying: three different claims of a pairing are compared, the right one too late")
  func enumeration() async throws {
    try await withServer(ServerOptions(samples: Persons.readings(Self.birth))) { server in
      let (_, token) = try await server.token()
      for year in [1984, 1985, 1984, 1987, 1985] {
        #expect(try await ask(server, Persons.person("\(year)-05-17"), token).verdict == .different)
      }
      for person in [Persons.person(Self.birth), Persons.person(Self.birth, sex: "x"), Persons.person("1999-09-09")] {
        let answer = try await server.request(.POST, Route.person, token: token, json: claim(person, token))
        #expect(answer.status == 423)
        #expect(try !answer.failure().isEmpty)
      }
      // What was compared has its answer still.
      #expect(try await ask(server, Persons.person("1984-05-17"), token).verdict == .different)
      // One row a minute.
      #expect(try await server.audited(.personRefused).count == 1)
      // Another pairing has claims of its own, and this one's mean nothing there.
      let other = try await server.token(name: "attic").token
      let replayed = try claim(Persons.person(Self.birth), token)
      let answer = try await server.request(.POST, Route.person, token: other, json: replayed)
      #expect(try answer.data()["person"] as? String == "different")
      #expect(try await ask(server, Persons.person(Self.birth), other).verdict == .same)
    }
  }

  @Test("many at once have no more than three claims compared")
  func crowd() async throws {
    try await withServer(ServerOptions(samples: Persons.readings(Self.birth))) { server in
      let token = try await server.token().token
      let bodies = try (1950..<1980).map { try claim(Persons.person("\($0)-05-17"), token) }
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for body in bodies {
          group.addTask { try await server.request(.POST, Route.person, token: token, json: body).status }
        }
        return try await group.reduce(into: [Int]()) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 200 } == 3)
      #expect(statuses.allSatisfy { $0 == 200 || $0 == 423 }, "\(statuses)")
    }
  }

  @Test("what is no claim is 400 and not counted; nobody without a token is answered")
  func malformed() async throws {
    try await withServer(ServerOptions(samples: Persons.readings(Self.birth))) { server in
      let token = try await server.token().token
      for body in ["", "{", "{}", #"{"person":{}}"#, #"{"person":{"d":"1986-05-17"}}"#, #"{"person":{"s":"x"}}"#] {
        #expect(try await server.request(.POST, Route.person, token: token, json: body).status == 400, "\(body)")
      }
      let right = try claim(Persons.person(Self.birth), token)
      #expect(try await server.request(.POST, Route.person, json: right).status == 401)
      #expect(try await server.request(.POST, Route.person, token: .random(), json: right).status == 401)
      #expect(try await ask(server, Persons.person(Self.birth), token).verdict == .same)
      #expect(try await server.audited(.personCompared).map { $0.detail["claims"] } == ["1"])
    }
  }

  @Test("changes are sent only while the record is of the person whose mark is asked for")
  func marks() async throws {
    try await withServer(ServerOptions(samples: Persons.readings(Self.birth) + Samples.heartRates(3))) { server in
      let token = try await server.token().token
      let other = try await server.token(name: "attic").token
      let mark = try #require(try await ask(server, Persons.person(Self.birth), token).mark)
      func changes(_ mark: String, _ token: BearerToken) async throws -> Answer {
        try await server.request(.GET, Route.changes, token: token, headers: [(PersonAnswer.markHeader, mark)])
      }
      #expect(try await changes(mark, token).status == 200)
      #expect(try await changes(mark, other).status == 412)
      let reads = try await server.audited(.dataRead).count
      try await server.store.add(readings: Persons.readings("1987-05-17", day: 1))
      let refused = try await changes(mark, token)
      #expect(refused.status == 412)
      #expect(try !refused.failure().isEmpty)
      #expect(try await server.audited(.dataRead).count == reads)
      #expect(try await ask(server, Persons.person(Self.birth), token).verdict == .different)
      // Without a mark everything is as it was for clients that know nothing of it.
      #expect(try await server.get(Route.changes, token: token).status == 200)
    }
  }

  @Test("a feed ends before the first page that is read of another person's record, and the next request says why")
  func markWhileStreamed() async throws {
    try await withServer(ServerOptions(samples: Persons.readings(Self.birth) + Samples.bulky(9_000))) { server in
      let token = try await server.token().token
      let mark = try #require(try await ask(server, Persons.person(Self.birth), token).mark)
      let theirs = Samples.quantity(Samples.stepCount, 1, "count")
      let body = try await PeerConnection.withConnection(to: server.endpoint, trust: server.trust) { connection in
        _ = try await connection.send(
          .GET, Route.changes,
          headers: [
            ("Authorization", "Bearer \(token.text)"), ("Accept", ChangeFeedFormat.lines.rawValue),
            (PersonAnswer.markHeader, mark),
          ])
        // Nobody reads yet, and the pages do not all fit between.
        try await server.store.add(readings: Persons.readings("1987-05-17", day: 1))
        try await server.store.apply(ChangeBatch(additions: [theirs]))
        return try await connection.body(limit: 64 << 20)
      }
      let read = try await eventually { try await server.audited(.dataRead).first }
      #expect(read.detail["complete"] == "false")
      #expect(!String(decoding: body, as: UTF8.self).contains(theirs.type.rawValue))
      var decoder = ChangeLineDecoder()
      let lines = try body.withUnsafeBytes { try decoder.decode($0) }
      guard case .token(let since, more: true)? = lines.last else {
        Issue.record("\(String(describing: lines.last))")
        return
      }
      let next = try await server.request(
        .GET, "\(Route.changes)?since=\(since)", token: token, headers: [(PersonAnswer.markHeader, mark)])
      #expect(next.status == 412)
    }
  }

  @Test("a request that waits is not answered with another person's record")
  func markWhileWaiting() async throws {
    try await withServer(ServerOptions(samples: Persons.readings(Self.birth))) { server in
      let token = try await server.token().token
      let mark = try #require(try await ask(server, Persons.person(Self.birth), token).mark)
      let answer = try await server.get(Route.changes, token: token)
      guard case .token(let since, _)? = try answer.lines().last else { throw NeverHappened() }
      async let waiting = server.request(
        .GET, "\(Route.changes)?since=\(since)&wait=50", token: token, headers: [(PersonAnswer.markHeader, mark)])
      _ = try await eventually { try await server.audited(.followStarted).first }
      try await server.store.add(readings: Persons.readings("1987-05-17", day: 1))
      #expect(try await waiting.status == 412)
    }
  }
}
