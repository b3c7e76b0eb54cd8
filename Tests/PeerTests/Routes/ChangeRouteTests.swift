import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("GET /api/v2/changes")
struct ChangeRouteTests {
  @Test("an empty store has one line: the token")
  func empty() async throws {
    try await withServer { server in
      let token = try await server.token().token
      let answer = try await server.get(Route.changes, token: token)
      #expect(answer.status == 200)
      #expect(answer.headers.first(name: "Content-Type") == "application/x-ndjson")
      #expect(answer.headers.first(name: "Hpeer-Changes") == "0")
      let lines = try answer.lines()
      #expect(lines.count == 1)
      guard case .token(let position, more: false)? = lines.first else {
        Issue.record("no token")
        return
      }
      let opened = try ChangeTokenSeal(key: server.store.positionKey).token(in: position)
      #expect(opened.change == 0)
      #expect(opened.filter == ChangeToken.filterHash(.everything))
    }
  }

  @Test("additions and deletions come oldest first, and a token continues after them")
  func order() async throws {
    let samples = Samples.heartRates(3)
    try await withServer(ServerOptions(samples: samples)) { server in
      let token = try await server.token().token
      let first = try await server.get(Route.changes, token: token)
      #expect(first.headers.first(name: "Hpeer-Changes") == "3")
      let lines = try first.lines()
      #expect(lines.dropLast() == samples.map { .added($0) }[...])
      guard case .token(let position, more: false)? = lines.last else {
        Issue.record("no token")
        return
      }
      let tombstone = Tombstone(sample: samples[1].reference, deleted: Timestamp(seconds: Samples.noon))
      let late = Samples.quantity(at: Samples.noon + 999)
      try await server.store.apply(ChangeBatch(additions: [late], deletions: [tombstone]))
      let second = try await server.get("\(Route.changes)?since=\(position)", token: token)
      #expect(second.headers.first(name: "Hpeer-Changes") == "2")
      #expect(Set(try second.lines().dropLast()) == [.added(late), .deleted(tombstone)])
    }
  }

  @Test("a client that takes the columns of another version only is told so", arguments: ["", ".1", ".2"])
  func otherVersion(version: String) async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(1))) { server in
      let token = try await server.token().token
      let old = "application/vnd.hpeer.changes\(version)"
      let answer = try await server.request(
        .GET, Route.changes, token: token, headers: [("Accept", "\(old), application/x-ndjson;q=0.1")])
      #expect(answer.status == 406)
      #expect(answer.text.contains("another version of hpeer"))
      let both = try await server.request(
        .GET, Route.changes, token: token, headers: [("Accept", "\(old), \(ChangeFeedFormat.columns.rawValue)")])
      #expect(both.headers.first(name: "Content-Type") == ChangeFeedFormat.columns.rawValue)
    }
  }

  @Test("an empty `since` is none")
  func emptySince() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(1))) { server in
      let token = try await server.token().token
      #expect(try await server.get("\(Route.changes)?since=", token: token).lines().count == 2)
    }
  }

  @Test("more than one page comes as several batches of one stream")
  func pages() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(4_500))) { server in
      let token = try await server.token().token
      let lines = try await server.get(Route.changes, token: token).lines()
      #expect(lines.count == 4_503)
      let more = lines.compactMap { line -> Bool? in
        if case .token(_, let more) = line { more } else { nil }
      }
      #expect(more == [true, true, false])
      #expect(Set(lines).count == lines.count)
    }
  }

  @Test("`limit` ends the stream with more to come")
  func limit() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(10))) { server in
      let token = try await server.token().token
      let first = try await server.get("\(Route.changes)?limit=4", token: token)
      #expect(first.headers.first(name: "Hpeer-Changes") == "4")
      let lines = try first.lines()
      #expect(lines.count == 5)
      guard case .token(let position, more: true)? = lines.last else {
        Issue.record("no token with more")
        return
      }
      let rest = try await server.get("\(Route.changes)?limit=100&since=\(position)", token: token).lines()
      #expect(rest.count == 7)
    }
  }

  @Test(
    "a query that cannot be understood is 400",
    arguments: [
      "limit=0", "limit=-1", "limit=1.5", "limit=", "limit=ten", "limit=99999999999999999999", "limit=%31%30x",
      "types=", "types=,", "types=nonsense", "types=heartRate,nonsense", "since=x", "since=%00",
      "since=AAAA", "since=\(String(repeating: "A", count: 44))", "since=\(String(repeating: "A", count: 20_000))",
    ])
  func badQueries(query: String) async throws {
    try await withServer { server in
      let token = try await server.token().token
      let answer = try await server.get("\(Route.changes)?\(query)", token: token)
      #expect(answer.status == 400)
      #expect(try answer.failure().contains("'"))
    }
  }

  @Test("a token of another store, version, epoch or filter, or after the end, is 410")
  func gone() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(5))) { server in
      let token = try await server.token().token
      let everything = ChangeToken.filterHash(.everything)
      let some = ChangeToken.filterHash(SampleFilter(types: [Samples.heartRate]))
      let seal = ChangeTokenSeal(key: server.store.positionKey)
      let epoch = try await server.store.feed.changes(since: .zero, limit: 100).epoch.id
      let good = ChangeToken(change: 5, epoch: epoch, filter: everything)
      for bad in [
        ChangeTokenSeal(key: Data(repeating: 1, count: 32)).text(of: good),
        seal.text(of: ChangeToken(change: 1, epoch: epoch, filter: some)),
        seal.text(of: ChangeToken(change: 6, epoch: epoch, filter: everything)),
        seal.text(of: ChangeToken(change: .max, epoch: epoch, filter: everything)),
        seal.text(of: ChangeToken(change: 5, epoch: epoch &+ 1, filter: everything)),
        // A token of version 1, as clients kept it before tokens were sealed.
        "AWsp_EDKRxBnsx0A3QEGYtoAAAAAAAAABQfnwwe0q-i0",
      ] {
        let answer = try await server.get("\(Route.changes)?since=\(bad)", token: token)
        #expect(answer.status == 410)
        #expect(try answer.failure().contains("start over"))
      }
      let text = seal.text(of: good)
      #expect(try await server.get("\(Route.changes)?since=\(text)", token: token).status == 200)
    }
  }

  @Test("types are named by identifier or short name, and only they come")
  func types() async throws {
    try await withServer(ServerOptions(samples: Samples.everyKind)) { server in
      let token = try await server.token().token
      for list in [
        "heartRate,stepCount", "\(Samples.heartRate),HKQuantityTypeIdentifierStepCount", "HEARTRATE,stepcount",
      ] {
        let lines = try await server.get("\(Route.changes)?types=\(list)", token: token).lines()
        let types = lines.compactMap { if case .added(let sample, _, _) = $0 { sample.type } else { nil } }
        #expect(types.count == 3)
        #expect(Set(types) == [Samples.heartRate, Samples.stepCount])
      }
      // A type that nobody has samples of is no error: there may be some tomorrow.
      let none = try await server.get("\(Route.changes)?types=HKQuantityTypeIdentifierOfTheFuture", token: token)
      #expect(try none.lines().count == 1)
    }
  }

  @Test("a scope narrows what is asked for, and neither types nor dates outside it come")
  func scope() async throws {
    var samples = Samples.heartRates(10)
    samples += [Samples.quantity(Samples.stepCount, 5, "count", at: Samples.noon + 300)]
    try await withServer(ServerOptions(samples: samples)) { server in
      let earliest = Timestamp(seconds: Samples.noon + 300)
      let token = try await server.token(
        scope: SampleFilter(types: [Samples.heartRate], earliest: earliest)
      ).token
      let all = try await server.get(Route.changes, token: token).lines()
      #expect(all.count == 6)
      let outside = try await server.get("\(Route.changes)?types=stepCount", token: token).lines()
      #expect(outside.count == 1)
    }
  }

  @Test("a scope that changes makes the old token void")
  func scopeChange() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(2))) { server in
      let (id, token) = try await server.token()
      guard case .token(let position, _)? = try await server.get(Route.changes, token: token).lines().last else {
        Issue.record("no token")
        return
      }
      try await server.registry.setScope(SampleFilter(types: [Samples.heartRate]), ofClient: id)
      #expect(try await server.get("\(Route.changes)?since=\(position)", token: token).status == 410)
    }
  }

  @Test("every kind of payload arrives as it is stored")
  func kinds() async throws {
    let samples = Samples.everyKind
    try await withServer(ServerOptions(samples: samples)) { server in
      let token = try await server.token().token
      let answer = try await server.get(Route.changes, token: token)
      #expect(answer.text.contains(#""value":"nan""#))
      let expected = Set(samples.filter { !$0.isNaN })
      let arrived = try answer.lines().compactMap {
        if case .added(let sample, _, _) = $0, !sample.isNaN { sample } else { nil }
      }
      #expect(Set(arrived) == expected)
      #expect(arrived.count == expected.count)
    }
  }
}

extension Sample {
  /// Whether the sample's value is NaN, which doesn't equal itself.
  fileprivate var isNaN: Bool {
    if case .quantity(let quantity) = payload { quantity.value.isNaN } else { false }
  }
}
