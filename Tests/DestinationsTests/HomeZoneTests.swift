import Foundation
import HealthAnalysis
import HealthModel
import HealthOperations
import HealthStore
import OperatingSystem
import TestSupport
import Testing

@testable import Destinations

/// Tests of days that were delivered before the person changed the home zone.
@Suite("Another home zone", .timeLimit(.minutes(10)))
struct HomeZoneTests {
  private let directory: TemporaryDirectory
  private let home: Home
  private let store: HealthStore

  init() throws {
    directory = try TemporaryDirectory()
    home = Home(path: directory.path("home"), environment: [:])
    store = try home.createStore()
  }

  private func operation(_ settings: String) throws -> DeliverOperation {
    try PrivateFile.replace(home.settingsPath, Array("[destination.one]\n\(settings)\n".utf8))
    let section = try #require(try home.settings().destination("one"))
    return DeliverOperation(section, home: home, store: store, policy: RetryPolicy(tolerance: 1))
  }

  private func sample(_ type: SampleType, _ start: Timestamp, for seconds: Int64, _ payload: Payload) -> Sample {
    Sample(
      uuid: UUID(), type: type, start: start, end: Timestamp(seconds: start.seconds + seconds),
      source: Source(name: "Watch"), payload: payload)
  }

  private func steps(_ count: Double, _ start: Timestamp) -> Sample {
    sample(RecordFixture.steps, start, for: 60, .quantity(Quantity(count, "count")))
  }

  /// Adds steps that give a total of 1,100 in a zone where it is noon now, and 100 where it is one in the morning.
  private func addStepsOfToday() async throws {
    // A minute is in one hour.
    let now = Timestamp.now.seconds / 60 * 60
    try await store.apply(
      ChangeBatch(additions: [
        steps(100, Timestamp(seconds: now - 1_800)), steps(1_000, Timestamp(seconds: now - 5 * 3_600)),
      ]))
  }

  /// Returns a time zone in which the current hour is `hour`.
  private static func zone(ofHour hour: Int) -> String {
    let offset = (hour - Int(Timestamp.now.seconds / 3_600 % 24) + 36) % 24 - 12
    // These names count to the west.
    return offset == 0 ? "Etc/UTC" : "Etc/GMT\(offset < 0 ? "+" : "-")\(abs(offset))"
  }

  @Test(
    "MQTT has today's total of the new zone, once",
    .enabled(if: MosquittoBroker.isInstalled, Comment(rawValue: MosquittoBroker.missing)))
  func mqtt() async throws {
    let broker = try MosquittoBroker()
    try broker.start()
    let operation = try operation("kind = \"mqtt\"\nurl = \"mqtt://127.0.0.1:\(broker.port)\"\nperson = \"ada\"")
    func total() throws -> Double? {
      struct Value: Decodable { var value: Double }
      let text = try broker.retained()["hpeer/ada/stepCount"]
      return try text.map { try JSONDecoder().decode(Value.self, from: Data($0.utf8)).value }
    }
    try await addStepsOfToday()
    try await store.settings.setHomeZone(Self.zone(ofHour: 12))
    #expect(try await operation.run().delivered == 2)
    #expect(try total() == 1_100)
    try await store.settings.setHomeZone(Self.zone(ofHour: 1))
    #expect(try await operation.run().delivered == 2)
    #expect(try total() == 100)
    #expect(try await operation.run() == CourierReport())
    #expect(try await store.consumers().map(\.name) == ["mqtt:one"])
  }

  @Test(
    "Home Assistant has today's total of the new zone, and its history once",
    .enabled(if: HomeAssistantServer.isInstalled, Comment(rawValue: HomeAssistantServer.environment.missing)),
    arguments: HomeAssistantVersion.installed)
  func homeAssistant(of version: HomeAssistantVersion) async throws {
    let server = try await version.server
    let person = "t" + UUID().uuidString.prefix(8).lowercased()
    let secret = directory.path("token")
    try PrivateFile.replace(secret, Array(server.token.utf8))
    let operation = try operation(
      """
      kind = "home-assistant"
      url = "\(server.url.absoluteString)"
      token = "file:\(secret)"
      person = "\(person)"
      """)
    func total() async throws -> String? { try await server.state("sensor.hpeer_\(person)_step_count")?.state }
    func hours() async throws -> [Double?] {
      try await server.statistics("hpeer:\(person)_step_count").map { $0.values["change"] }
    }
    try await addStepsOfToday()
    try await store.settings.setHomeZone(Self.zone(ofHour: 12))
    _ = try await operation.run()
    #expect(try await total() == "1100")
    #expect(try await hours() == [1_000, 100])
    try await store.settings.setHomeZone(Self.zone(ofHour: 1))
    _ = try await operation.run()
    #expect(try await total() == "100")
    #expect(try await hours() == [1_000, 100])
    #expect(try await operation.run() == CourierReport())
  }

  @Test(
    "a calendar has the days of the new zone and none of the old one, and what has nothing to do with days stays",
    .enabled(if: RadicaleServer.canJudge, "\(RadicaleServer.missing), or its judge is missing"))
  func calendar() async throws {
    let server = try RadicaleServer()
    let secret = directory.path("password")
    try PrivateFile.replace(secret, Array("s3cret".utf8))
    let operation = try operation(
      """
      kind = "caldav"
      url = "\(server.url("health"))"
      username = "ada"
      password = "file:\(secret)"
      nights = true
      milestones = { stepCount = "10000" }
      """)
    func time(_ text: String) throws -> Timestamp { try #require(Timestamp(iso8601: text)) }
    let workout = sample(
      .workout, try time("2024-06-15T10:00:00Z"), for: 1_800,
      .workout(Workout(activityType: .value(37), duration: 1_800, totals: [:])))
    try await store.apply(
      ChangeBatch(additions: [
        workout,
        // On the 16th in Japan.
        steps(12_000, try time("2024-06-15T20:00:00Z")),
        // On the 18th in both.
        steps(11_000, try time("2024-06-18T01:00:00Z")),
        // Before 15:00 of the 20th in UTC, and after it in Japan.
        sample(
          RecordFixture.sleep, try time("2024-06-20T06:00:00Z"), for: 7 * 3_600,
          .category(CategoryValue(value: Int64(SleepStage.asleepCore.rawValue)))),
      ]))
    try await store.settings.setHomeZone("Etc/UTC")
    _ = try await operation.run()
    let other = "BBBBBBBB-0000-4000-8000-000000000002"
    let added = try await server.ask(
      "PUT", server.url("health") + "hpeer-\(other.lowercased()).ics", [("Content-Type", "text/calendar")],
      [
        "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test", "BEGIN:VEVENT", "UID:\(other)",
        "DTSTAMP:20240615T100000Z", "DTSTART:20240615T110000Z", "DTEND:20240615T113000Z", "SUMMARY:Another person's",
        "END:VEVENT", "END:VCALENDAR", "",
      ].joined(separator: "\r\n"))
    #expect(added.status == 201)

    /// Returns the events without the part of their UIDs that identifies the record.
    func events() async throws -> Set<String> {
      let all = try await server.events("health").map(\.uid)
      #expect(Set(all).count == all.count)
      return Set(all.map { $0.hasPrefix("night-") || $0.hasPrefix("milestone-") ? String($0.dropLast(9)) : $0 })
    }
    let both: Set = [workout.uuid.uuidString, other, "milestone-stepcount-2024-06-18"]
    #expect(try await events() == both.union(["milestone-stepcount-2024-06-15", "night-2024-06-20"]))
    try await store.settings.setHomeZone("Asia/Tokyo")
    _ = try await operation.run()
    #expect(try await events() == both.union(["milestone-stepcount-2024-06-16", "night-2024-06-21"]))
    #expect(try await operation.run() == CourierReport())
    #expect(try await store.consumers().map(\.name) == ["caldav:one"])
  }
}
