import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("The digest over the wire")
struct DigestRouteTests {
  private func digest(_ server: TestServer, _ query: String = "", token: BearerToken) async throws -> DigestData {
    let answer = try await server.get("\(Route.digest)?\(query)", token: token)
    try #require(answer.status == 200, "\(answer.text)")
    #expect(answer.headers.first(name: "Content-Type") == "application/json")
    #expect(answer.headers.first(name: "Cache-Control") == "no-store")
    return try JSONDecoder().decode(Envelope<DigestData>.self, from: answer.body).data
  }

  @Test("it is the store's own, with and without contents, types and months")
  func everything() async throws {
    let old = (0..<5).map { Samples.quantity(at: Samples.noon - 40_000_000 + $0 * 1_000_000) }
    try await withServer(ServerOptions(samples: Samples.everyKind + old)) { server in
      try await server.store.apply(
        ChangeBatch(deletions: [Tombstone(sample: old[0].reference, deleted: Timestamp(seconds: 1))]))
      let token = try await server.token().token
      #expect(try await digest(server, token: token).digest() == server.store.digests.current().record)
      #expect(try await digest(server, "deep=1", token: token).digest() == server.store.digests.deep().record)
      let some = try await digest(server, "types=heartRate,HKDataTypeOfTheFuture&deep=0", token: token)
      let filter = SampleFilter(types: [Samples.heartRate, SampleType("HKDataTypeOfTheFuture")])
      #expect(try await some.digest() == server.store.digests.current(filter).record)
      #expect(some.filter == filter)
      let june = try #require(CalendarMonth("2024-06"))
      let months = try await digest(server, "from=2024-06&to=2024-06&deep=1", token: token)
      #expect(try await months.digest() == server.store.digests.deep(months: june...june).record)
      #expect(try months.digest().samples.count == Samples.everyKind.count)
    }
  }

  @Test("a digest of an empty store, and of a type that nobody has, has no types")
  func nothing() async throws {
    try await withServer { server in
      let token = try await server.token().token
      for query in ["", "types=stepCount", "deep=1"] {
        let data = try await digest(server, query, token: token)
        #expect(data.types.isEmpty)
        #expect(data.version == 1)
      }
    }
  }

  @Test("a scope narrows it, says so, and a month that the scope cuts is the rest of it")
  func scope() async throws {
    let samples = Samples.heartRates(10) + [Samples.quantity(Samples.stepCount, 5, "count", at: Samples.noon + 300)]
    try await withServer(ServerOptions(samples: samples)) { server in
      let earliest = Timestamp(seconds: Samples.noon + 300)
      let token = try await server.token(
        scope: SampleFilter(types: [Samples.heartRate], earliest: earliest)
      ).token
      for query in ["", "types=heartRate,stepCount"] {
        let data = try await digest(server, query, token: token)
        #expect(data.filter == SampleFilter(types: [Samples.heartRate], earliest: earliest))
        #expect(try data.digest().samples.count == 5)
        try await withStore { store in
          try await store.apply(ChangeBatch(additions: Array(samples[5..<10])))
          #expect(try await store.digests.current().record == data.digest())
        }
      }
      #expect(try await digest(server, "types=stepCount", token: token).types.isEmpty)
    }
  }

  @Test("its token continues the changes of the same selection after what it covers")
  func token() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(5))) { server in
      let token = try await server.token().token
      let data = try await digest(server, "types=heartRate", token: token)
      try await server.store.apply(ChangeBatch(additions: Samples.heartRates(2)))
      let path = "\(Route.changes)?types=heartRate&since=\(data.token)"
      #expect(try await server.get(path, token: token).lines().count == 3)
      #expect(try await server.get("\(Route.changes)?since=\(data.token)", token: token).status == 410)
    }
  }

  @Test(
    "a query that cannot be understood is 400",
    arguments: [
      "types=", "types=nonsense", "from=2024", "to=x", "from=2024-06&to=2024-05", "deep=", "deep=2", "deep=true",
      "from=%00", "from=\(String(repeating: "1", count: 20_000))",
    ])
  func badQueries(query: String) async throws {
    try await withServer { server in
      let token = try await server.token().token
      let answer = try await server.get("\(Route.digest)?\(query)", token: token)
      #expect(answer.status == 400)
      #expect(try answer.failure().contains("'"))
      #expect(try await server.store.audit.records().isEmpty)
    }
  }

  @Test("who asked for what is written down before it is sent; HEAD is sent nothing and leaves no row")
  func audit() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(5))) { server in
      let (id, token) = try await server.token(name: "laptop")
      let head = try await server.request(.HEAD, Route.digest, token: token)
      #expect(head.status == 200)
      _ = try await digest(server, token: token)
      _ = try await digest(server, "types=heartRate&from=2024-06&to=2024-07&deep=1", token: token)
      let records = try await server.store.audit.records()
      #expect(records.map(\.event) == ["digest.read", "digest.read"])
      let who = ["peer": "laptop", "id": id.hex, "samples": "5", "to": "5"]
      #expect(records[0].detail == who)
      #expect(
        records[1].detail
          == who.merging(["types": "heartRate", "months": "2024-06...2024-07", "deep": "true"]) { $1 })
    }
  }

  @Test("contents of too many samples are refused, and those of a month never", .timeLimit(.minutes(5)))
  func tooDeep() async throws {
    let first = CalendarMonth(containing: Timestamp(seconds: Samples.noon))
    let digest = RecordDigest(types: [
      TypeDigest(
        type: Samples.heartRate,
        months: (0..<3).map {
          MonthDigest(
            month: CalendarMonth(number: first.number + $0), samples: SetDigest(count: 200_000), tombstones: .empty)
        })
    ])
    #expect(digest.parts(ofAtMost: DigestRoutes.maximumDeepSamples).count == 3)
    #expect(digest.parts(ofAtMost: 400_000).count == 2)
    #expect(digest.parts(ofAtMost: 600_000).count == 1)
    #expect(RecordDigest().parts(ofAtMost: 1).isEmpty)
  }
}
