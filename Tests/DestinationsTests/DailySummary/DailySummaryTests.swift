import Foundation
import HealthAnalysis
import HealthModel
import Synchronization
import TestSupport
import Testing

@testable import Destinations

@Suite("Daily summaries", .timeLimit(.minutes(5)))
struct DailySummaryTests {
  private static func type(_ name: String) -> SampleType { SampleType("HKQuantityTypeIdentifier\(name)") }

  private func sample(
    _ type: SampleType, _ payload: Payload, _ start: String, _ end: String, source: String = "Watch"
  ) throws -> Sample {
    Sample(
      uuid: UUID(), type: type, start: try #require(Timestamp(iso8601: start)),
      end: try #require(Timestamp(iso8601: end)), source: Source(name: source), payload: payload)
  }

  private func quantity(
    _ name: String, _ value: Double, _ unit: String, _ start: String, _ end: String, source: String = "Watch"
  ) throws -> Sample {
    try sample(Self.type(name), .quantity(Quantity(value, unit)), start, end, source: source)
  }

  private func stage(_ stage: SleepStage, _ start: String, _ end: String) throws -> Sample {
    try sample(RecordFixture.sleep, .category(CategoryValue(value: Int64(stage.rawValue))), start, end)
  }

  private func objects(_ fixture: RecordFixture, _ metrics: [String: String] = [:]) throws -> DayObjects {
    DayObjects(record: fixture.reader(), metrics: try DailyMetrics(metrics), now: fixture.now)
  }

  private func day(_ date: String) throws -> Int {
    Int(try #require(Timestamp(iso8601: "\(date)T00:00:00Z")).seconds / 86_400)
  }

  @Test("headers that hpeer sets itself can't be set", arguments: ["Content-Type", "content-type", "X-Api-Key"])
  func ownHeaders(name: String) throws {
    let settings = try DestinationSettings(
      name: "x",
      [
        "url": .text("https://example.org/"), "key": .text("env:KEY"), "key-header": .text("X-API-Key"),
        "headers": .table([name: "x"]),
      ], of: DailySummaryDestination.description)
    let error = #expect(throws: SettingsError.self) { try DailySummaryDestination.validate(settings) }
    #expect(error?.key == "headers")
  }

  // MARK: Days

  @Test("days outside of what the destination may have are empty, whichever side they are on")
  func outsideOfTheFilter() async throws {
    let fixture = try RecordFixture(zone: ZoneRules(named: "Europe/Dublin"))
    try await fixture.add([
      try quantity("StepCount", 8_432, "count", "2026-02-10T09:00:00Z", "2026-02-10T10:00:00Z")
    ])
    let days = try day("2026-02-10")...(try day("2026-02-12"))
    for filter in [
      SampleFilter(end: Timestamp(iso8601: "2024-01-01T00:00:00Z")),
      SampleFilter(earliest: Timestamp(iso8601: "2027-01-01T00:00:00Z")),
    ] {
      let objects = DayObjects(record: fixture.reader(filter), metrics: try DailyMetrics([:]), now: fixture.now)
      #expect(try await objects.objects(of: days).isEmpty)
    }
  }

  @Test("a day as P247's page has it: its keys, its roundings, and a total that is no sum of the named stages")
  func example() async throws {
    let fixture = try RecordFixture(zone: ZoneRules(named: "Europe/Dublin"))
    var strength = Workout(
      activityType: WorkoutActivityType(exported: "HKWorkoutActivityTypeFunctionalStrengthTraining"))
    strength.duration = 2_700
    strength.totals = ["totalEnergyBurned": Quantity(312.4, "kcal")]
    try await fixture.add([
      try quantity("StepCount", 8_432, "count", "2026-02-10T09:00:00Z", "2026-02-10T10:00:00Z"),
      try quantity("ActiveEnergyBurned", 523.4, "kcal", "2026-02-10T09:00:00Z", "2026-02-10T10:00:00Z"),
      try quantity("HeartRateVariabilitySDNN", 45.2, "ms", "2026-02-10T06:00:00Z", "2026-02-10T06:00:00Z"),
      try quantity("RestingHeartRate", 52, "count/min", "2026-02-10T06:00:00Z", "2026-02-10T06:00:00Z"),
      try quantity("DietaryProtein", 142.3, "g", "2026-02-10T12:00:00Z", "2026-02-10T12:00:00Z"),
      try quantity("DietaryEnergyConsumed", 2_150, "kcal", "2026-02-10T12:00:00Z", "2026-02-10T12:00:00Z"),
      try quantity("RunningPower", 250, "W", "2026-02-10T12:00:00Z", "2026-02-10T12:01:00Z"),
      // 3.68 + 1.12 + 1.56 + 0.34 of no stage, and 0.63 awake.
      try stage(.asleepCore, "2026-02-09T23:00:00Z", "2026-02-10T02:40:48Z"),
      try stage(.asleepDeep, "2026-02-10T02:40:48Z", "2026-02-10T03:48:00Z"),
      try stage(.awake, "2026-02-10T03:48:00Z", "2026-02-10T04:25:48Z"),
      try stage(.asleepREM, "2026-02-10T04:25:48Z", "2026-02-10T05:59:24Z"),
      try stage(.asleepUnspecified, "2026-02-10T05:59:24Z", "2026-02-10T06:19:48Z"),
      try sample(.workout, .workout(strength), "2026-02-10T17:30:00Z", "2026-02-10T18:15:00Z"),
    ])
    let found = try await objects(fixture).objects(of: try day("2026-02-10")...(try day("2026-02-10")))
    let expected = """
      {"date":"2026-02-10","metrics":{"active_calories":523,"dietary_energy_kj":2150,"hrv":45,"protein_g":142,"resting_hr":52,\
      "step_count":8432},"sleep":{"awake_hours":0.63,"core_hours":3.68,"deep_hours":1.12,"rem_hours":1.56,"source":"Watch",\
      "total_hours":6.7},"timezone":"Europe/Dublin","workouts":[{"duration_seconds":2700,"energy_kcal":312,"source":"Watch",\
      "start":"2026-02-10T17:30:00+00:00","type":"FunctionalStrengthTraining"}]}
      """
    #expect(try CanonicalJSON.encode(JSONValue.object(try #require(found.values.first))) == expected)
  }

  @Test(
    "days on which clocks are changed have their own hours, and only those",
    arguments: [("2024-03-31", 23), ("2024-10-27", 25), ("2024-06-15", 24)])
  func clockChanges(date: String, hours: Int) async throws {
    let zone = try ZoneRules(named: "Europe/Berlin")
    let fixture = try RecordFixture(zone: zone)
    let number = try day(date)
    let time = zone.day(number)
    // A step each minute of three days.
    let minutes = stride(from: time.lowerBound - 86_400, to: time.upperBound + 86_400, by: 60)
    try await fixture.add(
      minutes.map { second in
        Sample(
          uuid: UUID(), type: RecordFixture.steps, start: Timestamp(seconds: second),
          end: Timestamp(seconds: second + 60), source: Source(name: "Watch"), payload: .quantity(Quantity(1, "count")))
      })
    let found = try await objects(fixture).objects(of: number - 1...number + 1)
    func steps(_ day: Int) -> JSONValue? {
      guard case .object(let metrics)? = found[day]?["metrics"] else { return nil }
      return metrics["step_count"]
    }
    #expect(steps(number) == .integer(Int64(hours * 60)))
    #expect(steps(number - 1) == .integer(1_440))
    #expect(steps(number + 1) == .integer(1_440))
  }

  @Test("a night is of the day on which it ended, once, whenever it began")
  func nights() async throws {
    let fixture = try RecordFixture(zone: ZoneRules(named: "Europe/Berlin"))
    try await fixture.add([
      try stage(.asleepCore, "2024-06-14T22:30:00+02:00", "2024-06-15T06:30:00+02:00"),
      try stage(.asleepCore, "2024-06-15T23:50:00+02:00", "2024-06-16T07:50:00+02:00"),
      try stage(.asleepCore, "2024-06-17T00:30:00+02:00", "2024-06-17T06:30:00+02:00"),
    ])
    let first = try day("2024-06-14")
    let objects = try objects(fixture)
    let found = try await objects.objects(of: first...first + 3)
    let hours = (first...first + 3).map { day -> JSONValue? in
      guard case .object(let sleep)? = found[day]?["sleep"] else { return nil }
      return sleep["total_hours"]
    }
    #expect(hours == [nil, .integer(8), .integer(8), .integer(6)])
    // One day alone says the same.
    #expect(try await objects.objects(of: first + 1...first + 1)[first + 1] == found[first + 1])
  }

  @Test("how somebody runs is told only of days on which somebody ran; VO2 max is the last reading")
  func running() async throws {
    let fixture = try RecordFixture(zone: ZoneRules(named: "Europe/Berlin"))
    let run = Workout(activityType: WorkoutActivityType(exported: "HKWorkoutActivityTypeRunning"))
    var samples = [try sample(.workout, .workout(run), "2024-06-15T10:00:00Z", "2024-06-15T11:00:00Z")]
    for date in ["2024-06-15", "2024-06-16"] {
      samples += [
        try quantity("RunningSpeed", 3.456, "m/s", "\(date)T10:00:00Z", "\(date)T10:10:00Z"),
        try quantity("VO2Max", 40, "mL/min·kg", "\(date)T10:00:00Z", "\(date)T10:00:00Z"),
        try quantity("VO2Max", 42.26, "mL/min·kg", "\(date)T12:00:00Z", "\(date)T12:00:00Z"),
      ]
    }
    try await fixture.add(samples)
    let first = try day("2024-06-15")
    let found = try await objects(fixture, ["hrv": "", "low": "vo2Max min 1", "fat": "bodyFatPercentage % 1"])
      .objects(of: first...first + 1)
    #expect(
      found[first]?["metrics"]
        == .object(["running_speed": .number(3.46), "vo2_max": .number(42.3), "low": .integer(40)]))
    #expect(found[first + 1]?["metrics"] == .object(["vo2_max": .number(42.3), "low": .integer(40)]))
  }

  // MARK: Delivering

  /// A server that stores days by date, rejects wrong keys, and fails on demand.
  private final class Server: Sendable {
    struct State {
      var days: [String: JSONValue] = [:]
      var posted: [[String]] = []
      var failsAt: Int?
    }
    let state = Mutex(State())

    func endpoint() throws -> RawEndpoint {
      try RawEndpoint { [self] exchange in
        guard exchange.request.headers["x-api-key"] == "p247_secret" else { return exchange.answer(401) }
        guard case .object(let body)? = try? JSONDecoder().decode(JSONValue.self, from: Data(exchange.request.body)),
          case .array(let days)? = body["data"]
        else { return exchange.answer(400) }
        let isBroken = state.withLock { state in
          if state.posted.count == state.failsAt { return true }
          var dates: [String] = []
          for day in days {
            guard case .object(let members) = day, case .string(let date)? = members["date"] else { continue }
            state.days[date] = day
            dates.append(date)
          }
          if !dates.isEmpty { state.posted.append(dates) }
          return false
        }
        return isBroken ? exchange.answer(503) : exchange.answer(200, [:], "{}")
      }
    }

    var posted: [[String]] { state.withLock { $0.posted } }
  }

  private func destination(
    _ url: String, _ fixture: RecordFixture, _ values: [String: DestinationSettings.Value] = [:],
    progress: @escaping @Sendable (String) -> Void = { _ in }
  ) throws -> DailySummaryDestination {
    var environment = fixture.environment(["KEY": "p247_secret"])
    environment.progress = progress
    let settings: [String: DestinationSettings.Value] = [
      "url": .text(url + "sync/healthkit"), "key": .text("env:KEY"), "key-header": .text("X-API-Key"),
    ]
    return try DailySummaryDestination(
      DestinationSettings(settings.merging(values) { $1 }, of: DailySummaryDestination.self), in: environment)
  }

  private func steps(_ fixture: RecordFixture, days: Int) -> [Sample] {
    (0..<days).map { fixture.quantity(RecordFixture.steps, Double(1_000 + $0), "count", ago: Int64($0) * 86_400 + 600) }
  }

  @Test("fourteen days at first, one after the other; a failure in between is gone on from, and nothing is sent twice")
  func backfill() async throws {
    let fixture = try RecordFixture()
    let server = Server()
    let endpoint = try server.endpoint()
    let said = Mutex<[String]>([])
    let place = try destination(endpoint.url, fixture) { text in said.withLock { $0.append(text) } }
    try await place.check()
    let samples = steps(fixture, days: 20)
    try await fixture.add(samples)
    server.state.withLock { $0.failsAt = 6 }
    await #expect(throws: CourierError.self) { try await fixture.deliver(to: place) }
    #expect(server.posted.count == 6)
    server.state.withLock { $0.failsAt = nil }
    try await fixture.deliver(to: place)
    let dates = (0..<14).map { Timestamp(seconds: Int64(fixture.today - 13 + $0) * 86_400).iso8601.prefix(10) }
    #expect(server.posted == dates.map { [String($0)] })
    #expect(said.withLock(\.self).prefix(7) == (1...7).map { "Syncing \($0)/14 days..." }[...])
    // A changed old day, and only that; one that is older than all that was sent is not.
    try await fixture.delete([samples[9], samples[17]])
    try await fixture.deliver(to: place)
    #expect(server.posted.count == 15)
    #expect(server.posted.last == [String(dates[4])])
    guard case .object(let day)? = server.state.withLock({ $0.days[String(dates[4])] }) else { return }
    #expect(day["metrics"] == .object([:]))
    // More days are wanted.
    let wider = try destination(endpoint.url, fixture, ["days": .integer(0), "days-per-request": .integer(4)])
    try await fixture.add([fixture.quantity(RecordFixture.steps, 1, "count", ago: 60)])
    try await fixture.deliver(to: wider)
    #expect(server.posted.dropFirst(15).map(\.count) == [4, 2])
    #expect(server.state.withLock { $0.days.count } == 19)
    await place.close()
    await wider.close()
  }

  @Test("a day that is refused for good is set aside, the rest goes on, and it is taken when it is asked for again")
  func refusedDay() async throws {
    let fixture = try RecordFixture()
    let samples = steps(fixture, days: 7)
    try await fixture.add(samples)
    let bad = Timestamp(seconds: Int64(fixture.today - 3) * 86_400).iso8601.prefix(10)
    let isStrict = Mutex(true)
    let taken = Mutex<[String]>([])
    let endpoint = try RawEndpoint { exchange in
      let body = String(decoding: exchange.request.body, as: UTF8.self)
      if body.contains(bad), isStrict.withLock(\.self) { return exchange.answer(422) }
      if body.components(separatedBy: "\"date\"").count > 3 { return exchange.answer(413) }
      taken.withLock { $0.append(body) }
      return exchange.answer(200)
    }
    let place = try destination(endpoint.url, fixture, ["days-per-request": .integer(7)])
    let letters = DeadLetters(path: fixture.directory.path("refused.jsonl"))
    let courier = Courier(
      to: place, named: "test", from: fixture.store, policy: RetryPolicy(tolerance: 1), deadLetters: letters)
    #expect(try await courier.run() == CourierReport(delivered: 6, refused: 1))
    #expect(try await letters.read() == [RefusedSample(samples[3].reference, reason: "it answers 422 to its day")])
    for day in fixture.today - 6...fixture.today where day != fixture.today - 3 {
      let date = String(Timestamp(seconds: Int64(day) * 86_400).iso8601.prefix(10))
      // As the day of an object: that it was sent today is said of each.
      #expect(taken.withLock { $0.count { $0.contains("\"date\":\"\(date)\"") } } == 1)
    }
    isStrict.withLock { $0 = false }
    let again = Redelivery(
      to: place, of: "test", from: fixture.store, filter: .everything, deadLetters: letters)
    #expect(try await again.run() == CourierReport(delivered: 1))
    #expect(taken.withLock { $0.last?.contains(bad) } == true)
    #expect(try await letters.read().isEmpty)
    await place.close()
  }

  @Test("days that there are not, as a damaged file has them, are none")
  func damagedMemory() async throws {
    let directory = try TemporaryDirectory()
    let print = String(repeating: "f", count: 16)
    let lines = [
      "first 20600", "20600 \(print)", "first \(Int.min)", "first \(Int.max)", "\(Int.min) \(print)", "2060",
    ]
    try Data((lines.joined(separator: "\n") + "20601 \(print)\n").utf8).write(
      to: URL(filePath: directory.path("days.txt")))
    let memory = await DailyMemory.read(in: directory.path)
    #expect(memory.first == 20_600 && memory.prints == [20_600: print])
  }

  @Test("what a person says is lost is sent again, all of it or from a day on")
  func forgetting() async throws {
    let fixture = try RecordFixture()
    let server = Server()
    let endpoint = try server.endpoint()
    let place = try destination(endpoint.url, fixture)
    try await fixture.add(steps(fixture, days: 4))
    try await fixture.deliver(to: place)
    let all = Array(server.posted.joined())
    #expect(all.count == 4)
    try await fixture.store.removeConsumer("test")
    try await fixture.deliver(to: place)
    #expect(server.posted.count == 4)
    try await place.forget(from: Timestamp(seconds: fixture.zone.start(ofDay: fixture.today - 1)))
    try await fixture.store.removeConsumer("test")
    try await fixture.deliver(to: place)
    #expect(Array(server.posted.dropFirst(4).joined()) == Array(all.suffix(2)))
    try await place.forget(from: nil)
    try await fixture.store.removeConsumer("test")
    try await fixture.deliver(to: place)
    #expect(Array(server.posted.dropFirst(6).joined()) == all)
    await place.close()
  }

  @Test("of a day that never had anything, nothing is sent, even when everything is sent again")
  func emptyDays() async throws {
    let fixture = try RecordFixture()
    let server = Server()
    let endpoint = try server.endpoint()
    let place = try destination(endpoint.url, fixture, ["days": .integer(0)])
    let samples = steps(fixture, days: 9)
    try await fixture.add([samples[0], samples[4], samples[8]])
    try await fixture.deliver(to: place)
    try await fixture.delete([samples[4]])
    try await fixture.deliver(to: place)
    let sent = server.posted
    #expect(sent.count == 4 && Set(sent).count == 3)
    try await place.forget(from: nil)
    try await fixture.store.startConsumerOver("test")
    try await fixture.deliver(to: place)
    #expect(server.posted.count == 7 && Set(server.posted.dropFirst(4)) == Set(sent))
    await place.close()
  }

  @Test("a wrong key, a wrong address and a body that is not wanted stop it with a sentence")
  func failures() async throws {
    let fixture = try RecordFixture()
    try await fixture.add(steps(fixture, days: 1))
    for (status, text) in [(401, "credentials"), (404, "answers 404"), (409, "answers 409"), (301, "answers 301")] {
      let endpoint = try RawEndpoint { $0.answer(status) }
      let place = try destination(endpoint.url, fixture)
      let error = await #expect(throws: CourierError.self) { try await fixture.deliver(to: place) }
      guard case .unusable(_, let reason)? = error else {
        Issue.record("\(status): \(error as Any)")
        continue
      }
      #expect(reason.contains(text))
      await place.close()
    }
  }

  @Test(
    "keys that make no sense are refused",
    arguments: ["steps", "stepCount mean", "heartRate sum", "stepCount kg", "stepCount 9", "sleepAnalysis", " "])
  func wrongMetrics(_ text: String) throws {
    let fixture = try RecordFixture()
    do {
      _ = try destination("http://127.0.0.1/", fixture, ["metrics": .table(["x": text])])
      Issue.record("accepted")
    } catch let error as SettingsError {
      #expect(error.key == "metrics")
      #expect("\(error)".contains("x = \"\(text)\""))
    }
  }
}
