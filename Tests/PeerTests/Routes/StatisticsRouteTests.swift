import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust
import Synchronization
import TestSupport
import Testing

@testable import PeerServer

@Suite("Numbers over the wire")
struct StatisticsRouteTests {
  private struct Answer: Decodable {
    struct Numbers: Decodable {
      var type: String
      var unit: String?
      var zone: String
      var bucket: String
      var values: [Value]
    }

    struct Value: Decodable {
      var date: String
      var start: String
      var partial: Bool
      var sum: Double?
      var mean: Double?
      var count: Int?
      var last: Double?
      var sources: [String]?
      var twins: Int?
    }

    var statistics: [Numbers]
  }

  private func numbers(
    _ server: TestServer, _ query: String, _ token: BearerToken
  ) async throws -> [Answer.Numbers] {
    let answer = try await server.get("\(Route.statistics)?\(query)", token: token)
    try #require(answer.status == 200, "\(answer.text)")
    return try JSONDecoder().decode(Envelope<Answer>.self, from: answer.body).data.statistics
  }

  private func status(_ server: TestServer, _ query: String, _ token: BearerToken) async throws -> Int {
    try await server.get("\(Route.statistics)?\(query)", token: token).status
  }

  /// Step counts for ten minutes on three days, starting at 10:30 UTC.
  private static let steps = (0..<3).flatMap { day in
    (0..<10).map { minute in
      Samples.quantity(Samples.stepCount, 100, "count", at: Samples.noon + day * 86_400 + minute * 60)
    }
  }

  @Test("hours, days and other zones, and what they are made of")
  func everything() async throws {
    try await withServer(ServerOptions(samples: Self.steps + Samples.heartRates(3))) { server in
      let token = try await server.token().token
      let days = try await numbers(server, "types=stepCount,heartRate&zone=UTC", token)
      #expect(days.map(\.type) == ["heartRate", "stepCount"])
      #expect(days[1].values.map(\.sum) == [1000, 1000, 1000])
      #expect(days[1].values.map(\.date) == ["2024-06-15", "2024-06-16", "2024-06-17"])
      #expect(days[0].values.map(\.count) == [3])
      let hours = try await numbers(
        server, "types=stepCount&bucket=hour&zone=Asia/Kathmandu&from=2024-06-16&to=2024-06-16", token)
      #expect(hours[0].values.map(\.start) == ["2024-06-16T16:00:00+05:45"])
      #expect(hours[0].values.map(\.sum) == [1000])
      let record = try #require(try await server.audited(.statisticsRead).last)
      #expect(record.detail["types"] == "stepCount" && record.detail["zone"] == "Asia/Kathmandu")
    }
  }

  @Test("a scope lets no sample outside of it into a number")
  func scope() async throws {
    try await withServer(ServerOptions(samples: Self.steps + Samples.heartRates(3))) { server in
      // The sixth minute of the second day.
      let earliest = Timestamp(seconds: Samples.noon + 86_400 + 300)
      let token = try await server.token(
        scope: SampleFilter(types: [Samples.stepCount], earliest: earliest)
      ).token
      let found = try await numbers(server, "types=stepCount,heartRate&zone=UTC", token)
      #expect(found.map(\.type) == ["stepCount"])
      #expect(found[0].values.map(\.sum) == [500, 1000])
      let other = try await server.token(scope: SampleFilter(sources: ["somebody else"])).token
      #expect(try await numbers(server, "types=stepCount", other).flatMap(\.values).isEmpty)
    }
  }

  @Test("whoever may have days only is told of finished days of the home zone, and of no sample")
  func onlyDaily() async throws {
    let now = Int64(Date().timeIntervalSince1970)
    let today = Samples.quantity(Samples.stepCount, 7, "count", at: now - 61)
    try await withServer(ServerOptions(samples: Self.steps + Samples.heartRates(3) + [today])) { server in
      try await server.store.settings.setHomeZone("Europe/Berlin")
      let (id, token) = try await server.token()
      try await server.registry.setOnlyDaily(true, ofClient: id)
      let found = try await numbers(server, "types=stepCount,heartRate", token)
      #expect(found.map(\.zone) == ["Europe/Berlin", "Europe/Berlin"])
      // Just after midnight what was made for today is of yesterday.
      #expect(found[1].values.map(\.sum).prefix(3) == [1000, 1000, 1000] && found[1].values.count <= 4)
      // 0 and 1 hold for a minute each, 2 for its own and five more.
      #expect(found[0].values.map(\.mean) == [1.625])
      for value in found.flatMap(\.values) {
        #expect(value.count == nil && value.last == nil && value.sources == nil && value.twins == nil && !value.partial)
      }
      for query in ["bucket=hour", "bucket=week", "zone=UTC", "source=x"] {
        #expect(try await status(server, "types=stepCount&\(query)", token) == 403, "\(query)")
      }
      #expect(try await status(server, "types=stepCount&zone=Europe/Berlin&from=2024-06-16", token) == 200)
      // Days that are not over, and those that have not begun.
      for days in ["from=2100-01-01", "from=2100-01-01&to=2100-02-01", "to=1970-01-01"] {
        #expect(try await numbers(server, "types=stepCount,heartRate&\(days)", token).flatMap(\.values).isEmpty)
      }
      for path in [Route.changes, Route.digest, Route.types, "\(Route.data)?type=stepCount", "\(Route.changes)?wait=1"]
      {
        let answer = try await server.get(path, token: token)
        #expect(answer.status == 403, "\(path)")
        #expect(try answer.failure().contains(Route.statistics))
      }
      try await server.registry.setOnlyDaily(false, ofClient: id)
      #expect(try await server.get(Route.changes, token: token).status == 200)
    }
  }

  @Test("what lies outside of a scope changes no byte of an answer, not even whether it is too long")
  func nonInterference() async throws {
    let scope = SampleFilter(
      types: [Samples.stepCount, Samples.heartRate], earliest: Timestamp(seconds: Samples.noon + 86_400),
      end: Timestamp(seconds: Samples.noon + 2 * 86_400))
    let old = Samples.quantity(Samples.stepCount, 9, "count", at: -2_000_000_000)
    let far = Samples.quantity(Samples.stepCount, 9, "count", at: 4_000_000_000)
    let rate = Samples.quantity(Samples.heartRate, 99, "count/min", at: Samples.noon - 30)
    let others: [[Sample]] = [[], [old], [far], [old, far, rate]]
    var random = SeededGenerator(seed: 49)
    let questions = (0..<150).map { _ -> String in
      let bucket = ["hour", "day", "week", "month", "year"].randomElement(using: &random) ?? "day"
      let zone = ["UTC", "Asia/Kathmandu", "America/New_York"].randomElement(using: &random) ?? "UTC"
      let dates = ["0001-01-01", "1906-08-16", "1999-12-31", "2024-06-15", "2024-06-16", "2096-10-02", "9999-12-31"]
      let bounds = [dates, dates].map { $0.randomElement(using: &random) ?? "2024-06-15" }.sorted()
      let from = Bool.random(using: &random) ? "&from=\(bounds[0])" : ""
      let to = Bool.random(using: &random) ? "&to=\(bounds[1])" : ""
      return "types=stepCount,heartRate&bucket=\(bucket)&zone=\(zone)\(from)\(to)"
    }
    let expected = Mutex<[String]?>(nil)
    for other in others {
      try await withServer(ServerOptions(samples: Self.steps + other)) { server in
        let token = try await server.token(scope: scope).token
        var answers: [String] = []
        for question in questions {
          let answer = try await server.get("\(Route.statistics)?\(question)", token: token)
          answers.append("\(question): \(answer.status) \(answer.text)")
        }
        #expect(answers.contains { $0.contains(": 200") })
        #expect(expected.withLock(\.self).map { $0 == answers } ?? true)
        expected.withLock { [answers] in $0 = answers }
      }
    }
  }

  @Test("whoever may have days only is not told that anything was measured today, nor hours by a change of zone")
  func today() async throws {
    let now = Int64(Date().timeIntervalSince1970)
    let questions = [
      "types=stepCount,heartRate", "types=heartRate&from=0001-01-01", "types=heartRate&to=9999-12-31",
      "types=heartRate",
    ]
    let expected = Mutex<[String]?>(nil)
    for other in [[], [Samples.quantity(Samples.heartRate, 60, "count/min", at: now + 7_200)]] {
      try await withServer(ServerOptions(samples: Self.steps + other)) { server in
        try await server.store.settings.setHomeZone("UTC")
        let (id, token) = try await server.token()
        try await server.registry.setOnlyDaily(true, ofClient: id)
        var answers: [String] = []
        for question in questions {
          answers.append(try await server.get("\(Route.statistics)?\(question)", token: token).text)
        }
        let status = try await server.get(Route.status, token: token).text
        #expect(status.contains(#""availableTypes":1"#), "\(status)")
        #expect(expected.withLock(\.self).map { $0 == answers } ?? true)
        expected.withLock { [answers] in $0 = answers }
        let before = try await numbers(server, "types=stepCount", token)
        try await server.store.settings.setHomeZone("Asia/Tokyo")
        #expect(try await numbers(server, "types=stepCount", token).map(\.zone) == before.map(\.zone))
        #expect(
          try await numbers(server, "types=stepCount", token).flatMap(\.values).map(\.start)
            == before.flatMap(\.values).map(\.start))
      }
    }
  }

  @Test("days that a scope cuts are not told to whoever may have days only")
  func cutDays() async throws {
    try await withServer(ServerOptions(samples: Self.steps)) { server in
      try await server.store.settings.setHomeZone("UTC")
      let earliest = Timestamp(seconds: Samples.noon + 300)
      let (id, token) = try await server.token(scope: SampleFilter(earliest: earliest))
      try await server.registry.setOnlyDaily(true, ofClient: id)
      let days = try await numbers(server, "types=stepCount", token)
      #expect(days[0].values.map(\.date) == ["2024-06-16", "2024-06-17"])
    }
  }

  @Test(
    "a question that cannot be understood is 400",
    arguments: [
      "", "types=", "types=nothing", "types=sleepAnalysis", "types=stepCount&bucket=minute",
      "types=stepCount&zone=../../etc/passwd", "types=stepCount&from=2024-06-32", "types=stepCount&to=yesterday",
      "types=stepCount&from=2024-06-02&to=2024-06-01", "types=stepCount&weekStart=friday",
      "types=stepCount&from=0001-01-01&to=9999-12-31&bucket=hour",
    ])
  func malformed(query: String) async throws {
    try await withServer(ServerOptions(samples: Self.steps)) { server in
      let token = try await server.token().token
      let answer = try await server.get("\(Route.statistics)?\(query)", token: token)
      #expect(answer.status == 400, "\(answer.text)")
    }
  }
}
