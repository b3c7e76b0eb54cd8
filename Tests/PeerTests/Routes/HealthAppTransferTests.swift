import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("GET /health/types and GET /health/data")
struct HealthAppTransferTests {
  private static func samples(_ answer: Answer) throws -> [[String: Any]] {
    try #require(try answer.data()["samples"] as? [[String: Any]])
  }

  @Test("types have short names, display names and true counts, by name")
  func types() async throws {
    let samples =
      Samples.heartRates(3) + [Samples.quantity(Samples.stepCount, 1, "count"), Samples.quantity(Samples.unheardOf)]
    try await withServer(ServerOptions(samples: samples)) { server in
      let token = try await server.token(method: .plain).token
      let types = try #require(
        try await server.get(Route.types, token: token).data()["types"] as? [[String: Any]])
      // Not the type whose pages would be empty.
      #expect(types.map { $0["identifier"] as? String } == ["heartRate", "stepCount"])
      #expect(types.map { $0["sampleCount"] as? Int } == [3, 1])
      #expect(types.map { $0["displayName"] as? String } == ["Heart Rate", "Step Count"])
    }
  }

  @Test("dates are numbers since 2001 for a client of the plain pairing, text on request")
  func plainDates() async throws {
    var sample = Samples.quantity()
    sample.start = Timestamp(microseconds: Samples.noon * 1_000_000 + 987_000)
    sample.end = sample.start
    try await withServer(ServerOptions(samples: [sample])) { server in
      let window = try await server.desk.open()
      let pairing = try await server.plainPair(window.code.digits).data()
      let token = try #require((pairing["token"] as? String).flatMap { BearerToken(text: $0) })
      let path = "\(Route.data)?type=heartRate"
      let number = try #require(try Self.samples(try await server.get(path, token: token)).first)
      #expect(number["startDate"] as? Double == 740_140_200.987)
      #expect(number["endDate"] as? Double == 740_140_200.987)
      let text = try #require(try Self.samples(try await server.get("\(path)&dates=iso8601", token: token)).first)
      #expect(text["startDate"] as? String == "2024-06-15T10:30:00Z")
      let explicit = try #require(try Self.samples(try await server.get("\(path)&dates=reference", token: token)).first)
      #expect(explicit["startDate"] as? Double == 740_140_200.987)
    }
  }

  @Test("dates are text for a client of hpeer-pair/1, numbers on request")
  func hpeerDates() async throws {
    try await withServer(ServerOptions(samples: [Samples.quantity()])) { server in
      let token = try await server.token().token
      let path = "\(Route.data)?type=heartRate"
      let text = try #require(try Self.samples(try await server.get(path, token: token)).first)
      #expect(text["startDate"] as? String == "2024-06-15T10:30:00Z")
      let number = try #require(try Self.samples(try await server.get("\(path)&dates=reference", token: token)).first)
      #expect(number["startDate"] as? Double == 740_140_200)
      #expect(try await server.get("\(path)&dates=unix", token: token).status == 400)
    }
  }

  @Test("pages go from the newest to the oldest, and the limit is capped at 1000")
  func paging() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(1_234))) { server in
      let token = try await server.token().token
      func page(_ query: String) async throws -> (values: [Double], total: Int?, offset: Int?, limit: Int?, more: Bool?)
      {
        let answer = try await server.get("\(Route.data)?type=heartRate\(query)", token: token)
        let data = try answer.data()
        return (
          try Self.samples(answer).compactMap { $0["value"] as? Double }, data["totalCount"] as? Int,
          data["offset"] as? Int, data["limit"] as? Int, data["hasMore"] as? Bool
        )
      }
      let first = try await page("")
      let newest: [Double] = (734...1233).reversed().map { Double($0) }
      #expect(first.values == newest)
      #expect(first.total == 1234)
      #expect(first.offset == 0)
      #expect(first.limit == 500)
      #expect(first.more == true)
      let second = try await page("&offset=500&limit=5000")
      let rest: [Double] = (0...733).reversed().map { Double($0) }
      #expect(second.values == rest)
      #expect(second.limit == 1000)
      #expect(second.more == false)
      let edge = try await page("&offset=1233&limit=1")
      #expect(edge.values == [0])
      #expect(edge.more == false)
      let before = try await page("&offset=1232&limit=1")
      #expect(before.more == true)
      let beyond = try await page("&offset=2000")
      #expect(beyond.values.isEmpty)
      #expect(beyond.total == 1234)
      #expect(beyond.more == false)
      let far = try await page("&offset=2147483647&limit=2147483647")
      #expect(far.values.isEmpty)
      #expect(far.more == false)
    }
  }

  @Test(
    "a number that is none, or out of range, is 400",
    arguments: [
      "offset=-1", "offset=1.5", "offset=", "offset=x", "offset=2147483648", "offset=99999999999999999999", "limit=0",
      "limit=-5", "limit=", "limit=1e3", "limit=2147483648", "limit=%2d1",
    ])
  func badNumbers(query: String) async throws {
    try await withServer { server in
      let token = try await server.token().token
      let answer = try await server.get("\(Route.data)?type=heartRate&\(query)", token: token)
      #expect(answer.status == 400)
      #expect(try answer.failure().contains("must be a whole number"))
    }
  }

  @Test(
    "a type that is missing or unknown is 400 in the app's words", arguments: ["", "?type=", "?type=nonsense", "?type"])
  func badType(query: String) async throws {
    try await withServer { server in
      let token = try await server.token().token
      let answer = try await server.get(Route.data + query, token: token)
      #expect(answer.status == 400)
      #expect(try answer.failure() == "Missing or invalid 'type' query parameter")
    }
  }

  @Test("what the app has no words for is left out of the samples, and one odd value spoils no page")
  func leftOut() async throws {
    let samples =
      Samples.everyKind + [
        Samples.quantity(Samples.walking, .greatestFiniteMagnitude, "km"), Samples.quantity(Samples.walking, 1, "m"),
      ]
    try await withServer(ServerOptions(samples: samples)) { server in
      let token = try await server.token().token
      func count(_ type: String) async throws -> Int {
        let answer = try await server.get("\(Route.data)?type=\(type)", token: token)
        #expect(answer.status == 200)
        return try Self.samples(answer).count
      }
      #expect(try await count("HKQuantityTypeIdentifierUnheardOf") == 0)
      #expect(try await count("HKDataTypeFuture") == 0)
      #expect(try await count("biologicalSex") == 0)
      #expect(try await count("HKActivitySummaryTypeIdentifier") == 0)
      #expect(try await count("stepCount") == 1)
      #expect(try await count("distanceWalkingRunning") == 1)
    }
  }

  @Test("a type is listed if and only if its pages hold samples, and counts no others")
  func listed() async throws {
    try await withServer(ServerOptions(samples: Samples.everyKind)) { server in
      let token = try await server.token(method: .plain).token
      let listed = try #require(try await server.get(Route.types, token: token).data()["types"] as? [[String: Any]])
      let names = Set(listed.compactMap { $0["identifier"] as? String })
      for count in try await server.store.samples.typeCounts() {
        let path = "\(Route.data)?type=\(count.type.shortName)"
        let page = try await server.get(path, token: token).data()
        let isEmpty = (page["samples"] as? [Any])?.isEmpty ?? true
        #expect(names.contains(count.type.shortName) == !isEmpty, "\(count.type)")
        if isEmpty { #expect(page["totalCount"] as? Int == 0 && page["hasMore"] as? Bool == false, "\(count.type)") }
      }
      #expect(names.contains("workout") && names.contains("bloodPressure"))
    }
  }

  @Test("a scope hides other types and earlier samples")
  func scope() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(10))) { server in
      let earliest = Timestamp(seconds: Samples.noon + 300)
      let late = try await server.token(scope: SampleFilter(earliest: earliest)).token
      let data = try await server.get("\(Route.data)?type=heartRate", token: late).data()
      #expect(data["totalCount"] as? Int == 5)
      #expect((data["samples"] as? [Any])?.count == 5)
      let other = try await server.token(scope: SampleFilter(types: [Samples.stepCount])).token
      let hidden = try await server.get("\(Route.data)?type=heartRate", token: other).data()
      #expect(hidden["totalCount"] as? Int == 0)
      #expect((hidden["samples"] as? [Any])?.isEmpty == true)
      let types = try await server.get(Route.types, token: other).data()
      #expect((types["types"] as? [Any])?.isEmpty == true)
    }
  }
}
