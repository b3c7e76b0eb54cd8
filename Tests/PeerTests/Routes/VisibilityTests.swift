import Foundation
import HealthModel
import HealthStore
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

/// The samples that a reader may and may not see, and the reader's scope.
private struct Case: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var scope: SampleFilter
  var visible: [Sample]
  var hidden: [Sample]

  private static func from(_ source: String, _ sample: Sample) -> Sample {
    var sample = sample
    sample.source = Source(name: source, version: "1")
    return sample
  }

  static var all: [Case] {
    let systolic = Samples.quantity(Samples.systolic, 120, "mmHg", at: Samples.noon)
    let diastolic = Samples.quantity(Samples.diastolic, 80, "mmHg", at: Samples.noon - 9_000)
    let pressure = Samples.sample(
      Samples.bloodPressure, .correlation(Correlation(members: [systolic.reference, diastolic.reference])))
    // It says more than it may, of what is seen and of what is not.
    let run = Samples.sample(
      .workout, at: Samples.noon + 60,
      .workout(
        Workout(
          activityType: .value(37), duration: 1800,
          totals: ["totalDistance": Quantity(5, "km"), "totalEnergyBurned": Quantity(350.5, "kcal")],
          statistics: [
            WorkoutStatistics(type: Samples.heartRate, average: 150, unit: "count/min"),
            WorkoutStatistics(
              type: Samples.stepCount, start: Timestamp(seconds: Samples.noon - 5), sum: 4_321, unit: "count"),
          ],
          activities: [
            WorkoutActivity(
              uuid: "A", start: Timestamp(seconds: Samples.noon),
              statistics: [WorkoutStatistics(type: Samples.walking, sum: 5_000, unit: "m")])
          ])))
    let early = Samples.heartRates(7).map { sample in
      Samples.quantity(at: sample.start.seconds - 1_000_000)
    }
    let steps = (0..<9).map { Samples.quantity(Samples.stepCount, Double($0), "count", at: Samples.noon + $0 * 30) }
    return [
      Case(
        testDescription: "some types",
        scope: SampleFilter(types: [Samples.heartRate, Samples.bloodPressure, .workout]),
        visible: Samples.heartRates(5) + [run, pressure], hidden: steps + [systolic, diastolic]),
      Case(
        testDescription: "from a date on",
        scope: SampleFilter(earliest: Timestamp(seconds: Samples.noon)),
        visible: Samples.heartRates(5) + steps + [run, pressure, systolic],
        hidden: early + [diastolic, Samples.quantity(Samples.walking, 3, "m", at: Samples.noon - 1)]),
      Case(
        testDescription: "some types from a date on",
        scope: SampleFilter(
          types: [Samples.heartRate], earliest: Timestamp(seconds: Samples.noon)),
        visible: Samples.heartRates(5), hidden: early + steps),
      Case(
        testDescription: "some sources",
        scope: SampleFilter(sources: ["Robin's Watch, 44 mm"]),
        visible: (Samples.heartRates(5) + [run]).map { from("Robin's Watch, 44 mm", $0) },
        hidden: (early + steps).map { from("an app", $0) }),
    ]
  }
}

@Suite("What lies outside a reader's scope might as well not be there")
struct VisibilityTests {
  /// Compares two servers: one has hidden samples among the rest, the other never had them or references to them. All
  /// answers must be the same.
  @Test("no answer differs", arguments: Case.all)
  private func answers(_ test: Case) async throws {
    try await withServer { full in
      try await withServer { bare in
        let readers = (
          Reader(server: full, token: try await full.token(scope: test.scope).token),
          Reader(server: bare, token: try await bare.token(scope: test.scope).token)
        )
        var (first, second) = readers
        for phase in 0..<6 {
          let (shown, secret) = Self.batches(phase, test)
          try await full.store.apply(secret)
          try await full.store.apply(shown)
          try await full.store.apply(secret)
          try await bare.store.apply(Self.cut(shown, test.scope))
          let (one, two) = (try await first.everything(), try await second.everything())
          #expect(one.count == two.count)
          for (name, answer) in one { #expect(answer == two[name], "\(name) in phase \(phase)") }
        }
      }
    }
  }

  /// Returns the part of a batch that is visible within a scope.
  private static func cut(_ batch: ChangeBatch, _ scope: SampleFilter) -> ChangeBatch {
    ChangeBatch(additions: batch.additions.map(scope.cut.applied), deletions: batch.deletions)
  }

  @Test("what a wider scope adds to samples that are there already comes with it, and a whole copy stays whole")
  func cutSamples() async throws {
    let everyKind = Samples.everyKind
    try await withServer(ServerOptions(samples: everyKind)) { server in
      try await withStore { store in
        let scope = SampleFilter(types: [Samples.bloodPressure, SampleType.workout])
        let (client, record) = try await server.record(scope: scope)
        let pull = Pull(into: store, from: record, at: server.endpoint)
        #expect(try await pull.run().added == 2)
        let all = try await store.content().joined()
        #expect(all.contains("\"partial\":true"))
        for hidden in [Samples.heartRate, Samples.systolic, Samples.diastolic] {
          #expect(!all.contains(hidden.rawValue))
        }

        try await server.registry.setScope(.everything, ofClient: client)
        #expect(try await pull.run().added == everyKind.count - 2)
        #expect(try await store.content() == server.store.content())

        try await server.registry.setScope(scope, ofClient: client)
        _ = try await pull.run()
        #expect(try await store.content() == server.store.content())
      }
    }
  }

  @Test("asking for less than may be seen takes nothing away from samples")
  func wish() async throws {
    try await withServer(ServerOptions(samples: Samples.everyKind)) { server in
      try await withStore { store in
        let record = try await server.record().server
        let pull = Pull(into: store, from: record, at: server.endpoint, types: [.workout, Samples.bloodPressure])
        #expect(try await pull.run().added == 2)
        #expect(try await !store.content().joined().contains("partial"))
      }
    }
  }

  /// Returns the batches of a phase: additions, then deletions of some of each, then only hidden changes.
  private static func batches(_ phase: Int, _ test: Case) -> (shown: ChangeBatch, hidden: ChangeBatch) {
    func tombstones(_ samples: some Sequence<Sample>) -> [Tombstone] {
      samples.map { Tombstone(sample: $0.reference, deleted: Timestamp(seconds: Samples.noon)) }
    }
    return switch phase {
    case 0: (ChangeBatch(), ChangeBatch())
    case 1: (ChangeBatch(additions: Array(test.visible.dropLast())), ChangeBatch(additions: test.hidden.dropLast(2)))
    case 2: (ChangeBatch(deletions: tombstones(test.visible.prefix(1))), ChangeBatch())
    case 3: (ChangeBatch(), ChangeBatch(deletions: tombstones(test.hidden.prefix(2))))
    case 4: (ChangeBatch(), ChangeBatch(additions: test.hidden.suffix(2)))
    default: (ChangeBatch(additions: test.visible.suffix(1)), ChangeBatch())
    }
  }

  @Test("a scope that is widened misses nothing and doubles nothing, and one that is narrowed shows nothing more")
  func scopeChanges() async throws {
    let old = (0..<30).map { Samples.quantity(Samples.stepCount, Double($0), "count", at: Samples.noon - 40 + $0) }
    try await withServer(ServerOptions(samples: Samples.heartRates(30) + old)) { server in
      try await withStore { store in
        let narrow = SampleFilter(types: [Samples.heartRate])
        let (client, record) = try await server.record(scope: narrow)
        let pull = Pull(into: store, from: record, at: server.endpoint)
        #expect(try await pull.run().added == 30)
        try await server.store.apply(ChangeBatch(deletions: [Self.tombstone(old[0])]))
        #expect(try await pull.run().changes == 0)

        let later = SampleFilter(earliest: Timestamp(seconds: Samples.noon - 20))
        try await server.registry.setScope(later, ofClient: client)
        let widened = try await pull.run()
        #expect((widened.requests, widened.added, widened.unchanged) == (2, 10, 30))

        try await server.registry.setScope(.everything, ofClient: client)
        let all = try await pull.run()
        #expect((all.requests, all.added) == (2, 19))
        #expect(try await store.content() == server.store.content())
        #expect(try await pull.run().changes == 0)

        try await server.registry.setScope(narrow, ofClient: client)
        let secret = Samples.quantity(Samples.stepCount, 1, "count")
        let open = Samples.quantity(at: Samples.noon + 9_999_999)
        try await server.store.apply(
          ChangeBatch(additions: [secret, open], deletions: [Self.tombstone(old[5]), Self.tombstone(old[20])]))
        let narrowed = try await pull.run()
        #expect((narrowed.requests, narrowed.added, narrowed.deleted, narrowed.unchanged) == (2, 1, 0, 30))
        #expect(try await store.samples.sample(secret.reference) == nil)
        #expect(try await store.samples.sample(old[20].reference) != nil)
        #expect(try await pull.run().changes == 0)
      }
    }
  }

  private static func tombstone(_ sample: Sample) -> Tombstone {
    Tombstone(sample: sample.reference, deleted: Timestamp(seconds: Samples.noon))
  }
}

/// A client that makes every request of a paired peer and continues each time from its last token.
private struct Reader {
  let server: TestServer
  let token: BearerToken
  private var positions: [String: String] = [:]

  init(server: TestServer, token: BearerToken) {
    self.server = server
    self.token = token
  }

  /// Returns the answers by request, in a form that depends only on their content.
  mutating func everything() async throws -> [String: String] {
    var answers: [String: String] = [:]
    let status = try await server.get(Route.status, token: token).data()
    answers["status"] = "\(status["availableTypes"] ?? "none")"
    answers["types"] = try await text(Route.types)
    for page in [
      "heartRate", "heartRate&offset=1&limit=2", "heartRate&offset=100", "stepCount", "stepCount&limit=0",
      "bloodPressure", "workout", "bloodPressureSystolic", "distanceWalkingRunning", "sleepAnalysis",
      "HKQuantityTypeIdentifierOfTheFuture", "nonsense",
    ] {
      let path = "\(Route.data)?type=\(page)"
      answers[path] = try await text(path)
    }
    for query in ["", "types=stepCount", "types=heartRate,sleepAnalysis", "limit=2", "source=an%20app"] {
      answers["changes?\(query)"] = try await changes(query, since: nil)
      answers["changes?since&\(query)"] = try await changes(query, since: positions[query])
    }
    for query in [
      "", "deep=1", "types=stepCount", "types=heartRate,sleepAnalysis", "from=2024-06", "to=2024-05",
      "source=an%20app&deep=1",
    ] {
      answers["digest?\(query)"] = try await digest(query)
    }
    return answers
  }

  /// Returns the answer, with its token replaced by the token's length.
  private func digest(_ query: String) async throws -> String {
    let answer = try await server.get("\(Route.digest)?\(query)", token: token)
    var data = try answer.data()
    let length = (data["token"] as? String)?.utf8.count
    data["token"] = nil
    let rest = try JSONSerialization.data(withJSONObject: data, options: [.sortedKeys])
    return "\(answer.status) \(length ?? 0) \(String(decoding: rest, as: UTF8.self))"
  }

  private func text(_ path: String) async throws -> String {
    let answer = try await server.get(path, token: token)
    let data = try JSONSerialization.data(withJSONObject: answer.object(), options: [.sortedKeys])
    return "\(answer.status) \(String(decoding: data, as: UTF8.self))"
  }

  /// Returns the status, the header with the number of changes, and the lines, with tokens replaced by their lengths.
  private mutating func changes(_ query: String, since: String?) async throws -> String {
    let path = "\(Route.changes)?\(query)" + (since.map { "&since=\($0)" } ?? "")
    let answer = try await server.get(path, token: token)
    guard answer.status == 200 else { return try await text(path) }
    var said = ["\(answer.headers.first(name: ChangeFeed.expectedHeader) ?? "none")"]
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    for line in try answer.lines() {
      if case .token(let text, let more) = line {
        positions[query] = text
        said.append("\(text.utf8.count) \(more)")
      } else {
        said.append(String(decoding: try encoder.encode(line), as: UTF8.self))
      }
    }
    return said.joined(separator: "\n")
  }
}
