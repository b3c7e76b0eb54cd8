import Foundation
import HealthAnalysis
import HealthModel
import TestSupport
import Testing

@testable import Destinations

@Suite(
  "Home Assistant",
  .enabled(if: HomeAssistantServer.isInstalled, Comment(rawValue: HomeAssistantServer.environment.missing)),
  .timeLimit(.minutes(10)))
struct HomeAssistantTests {
  private let fixture: RecordFixture
  /// A person's name for this test only.
  private let person = "t" + UUID().uuidString.prefix(8).lowercased()

  init() throws { fixture = try RecordFixture() }

  private func destination(
    _ server: HomeAssistantServer, _ values: [String: DestinationSettings.Value] = [:], token: String? = nil,
    of fixture: RecordFixture? = nil
  ) throws -> HomeAssistantDestination {
    let settings = [
      "url": .text(server.url.absoluteString), "token": .text("env:TOKEN"), "person": .text(person),
    ].merging(values) { _, own in own }
    return try HomeAssistantDestination(
      DestinationSettings(settings, of: HomeAssistantDestination.self),
      in: (fixture ?? self.fixture).environment(["TOKEN": token ?? server.token]))
  }

  private func reason(_ work: () async throws -> Void) async -> DeliveryError? {
    do {
      try await work()
      return nil
    } catch {
      return error as? DeliveryError
    }
  }

  // MARK: States

  @Test(
    "a sensor for each type, with right totals, units and classes; gone with the last sample, and back after a restart",
    arguments: HomeAssistantVersion.installed)
  func states(of version: HomeAssistantVersion) async throws {
    let server = try await version.server
    let place = try destination(server, ["history": .boolean(false)])
    let weight = fixture.quantity(RecordFixture.bodyMass, 80, "kg", ago: 7_200)
    try await fixture.add([
      weight, fixture.quantity(RecordFixture.steps, 500, "count", ago: 7_200),
      fixture.quantity(RecordFixture.steps, 300, "count", ago: 3_600),
      fixture.quantity(RecordFixture.oxygen, 0.97, "%", ago: 3_600), fixture.stage(.asleepCore, hours: 5...12),
    ])
    try await fixture.deliver(to: place)
    let steps = try #require(try await server.state("sensor.hpeer_\(person)_step_count"))
    #expect(steps.state == "800")
    #expect(steps.attributes["unit_of_measurement"] == .string("steps"))
    #expect(steps.attributes["state_class"] == .string("total"))
    let midnight = Timestamp(seconds: fixture.zone.start(ofDay: fixture.today))
    #expect(steps.attributes["last_reset"] == .string(midnight.iso8601))
    let mass = try #require(try await server.state("sensor.hpeer_\(person)_body_mass"))
    #expect(mass.state == "80")
    #expect(mass.attributes["device_class"] == .string("weight"))
    #expect(try await server.state("sensor.hpeer_\(person)_oxygen_saturation")?.state == "97")
    let sleep = try #require(try await server.state("sensor.hpeer_\(person)_sleep_analysis"))
    #expect(sleep.state == "7")
    #expect(sleep.attributes["core_hours"] == .integer(7))

    try await fixture.delete([weight])
    try await fixture.deliver(to: place)
    #expect(try await server.state("sensor.hpeer_\(person)_body_mass") == nil)

    // A restart forgets what was set from outside.
    for name in ["step_count", "delivered"] {
      _ = try await server.ask("DELETE", "api/states/sensor.hpeer_\(person)_\(name)")
    }
    try await fixture.add([fixture.quantity(RecordFixture.heartRate, 61, "count/min", ago: 60)])
    try await fixture.deliver(to: place)
    #expect(try await server.state("sensor.hpeer_\(person)_step_count")?.state == "800")
    #expect(try await server.state("sensor.hpeer_\(person)_heart_rate")?.state == "61")
    await place.close()
  }

  @Test(
    "what a version wants said of statistics is told by its number",
    arguments: [
      ("2026.11.0", true), ("2025.11.0b2", true), ("2025.10.4", false), ("2025.1.4", false), ("2024.12", false),
      ("dev", false), ("", false),
    ])
  func versions(text: String, isWanted: Bool) {
    #expect(HomeAssistantSocket.wantsUnitClasses(.string(text)) == isWanted)
    #expect(!HomeAssistantSocket.wantsUnitClasses(nil))
  }

  @Test("what is counted is whole, what is measured is not; pressures have no class, and glucose has its own")
  func entities() {
    func entity(_ name: String) -> HomeAssistantEntity {
      HomeAssistantEntity(SampleType("HKQuantityTypeIdentifier" + name))
    }
    let names = [String(repeating: "Long", count: 200), "Schritté", "Schrittè"]
    let keys = names.map { HomeAssistantEntity(SampleType("HKQuantityTypeIdentifier\($0)")).key }
    #expect(Set(keys).count == 3 && keys.allSatisfy { $0.utf8.count <= 120 && $0.utf8.allSatisfy { $0 < 0x80 } })
    #expect(entity("StepCount").state(5701.239959) == 5701 && entity("StepCount").state(289.99999999999994) == 290)
    #expect(entity("ActiveEnergyBurned").state(41.5) == 41.5 && entity("BodyMass").state(80.25) == 80.25)
    let pressure = entity("BloodPressureSystolic")
    #expect(pressure.deviceClass == nil && pressure.unitClass == "pressure")
    #expect(entity("BloodGlucose").deviceClass == "blood_glucose_concentration")
    #expect(entity("HeartRate").unitClass == nil && entity("OxygenSaturation").unitClass == "unitless")
  }

  @Test(
    "numbers are in the unit that a person wants, with its classes",
    arguments: [
      ("BodyMass", "lb", 80.0, 176.369809748, "lb", "weight", "mass"),
      ("BloodGlucose", "mmol/L", 99.1, 5.50079, "mmol/L", "blood_glucose_concentration", "blood_glucose_concentration"),
      ("BodyTemperature", "degF", 37, 98.6, "°F", "temperature", "temperature"),
      ("DistanceWalkingRunning", "mi", 1_609.344, 1, "mi", "distance", "distance"),
      ("ActiveEnergyBurned", "kJ", 100, 418.4, "kJ", "energy", "energy"),
      ("DistanceWalkingRunning", "m", 1_500, 1_500, "m", "distance", "distance"),
    ])
  func units(
    name: String, unit: String, number: Double, expected: Double, shown: String, deviceClass: String, unitClass: String
  ) throws {
    let type = SampleType("HKQuantityTypeIdentifier" + name)
    let common = try CommonSettings(["units": .table([type.shortName: unit])])
    let entity = HomeAssistantEntity(type, in: common.units[type])
    #expect(abs(entity.state(number) - expected) < 1e-5 * expected)
    #expect(entity.unit == shown && entity.deviceClass == deviceClass && entity.unitClass == unitClass)
    #expect(entity.key == HomeAssistantEntity(type).key && entity.stateClass == HomeAssistantEntity(type).stateClass)
  }

  @Test(
    "every type has a unit and classes that Home Assistant knows together", arguments: HomeAssistantVersion.installed)
  func classes(of version: HomeAssistantVersion) async throws {
    let python = try #require(version.environment.program("python"))
    var lines = ""
    for entry in SampleTypeCatalogue.healthKit.entries {
      let entity = HomeAssistantEntity(entry.type)
      let words = [entity.key, entity.unit ?? "", entity.deviceClass ?? "", entity.stateClass?.rawValue ?? ""]
      lines += words.joined(separator: "\t") + "\n"
    }
    let path = fixture.directory.path("entities.tsv")
    try Data(lines.utf8).write(to: URL(filePath: path))
    let program = """
      import sys
      from homeassistant.components.sensor.const import DEVICE_CLASS_STATE_CLASSES as S, DEVICE_CLASS_UNITS as U
      for line in open(sys.argv[1], encoding="utf-8"):
        key, unit, device, state = line.rstrip("\\n").split("\\t")
        if device and (state not in S[device] or unit not in {str(u) for u in U[device]}): print(key, unit, device, state)
      """
    let answer = try output(of: python, ["-c", program, path])
    #expect(answer.text == "")
    #expect(answer.status == 0)
    let keys = SampleTypeCatalogue.healthKit.entries.map { HomeAssistantEntity($0.type).key }
    #expect(Set(keys).count == keys.count)
  }

  // MARK: History

  /// Returns step counts at regular intervals, up to an hour before now.
  private func steps(_ count: Int, every seconds: Int64 = 3_600) -> [Sample] {
    let end = fixture.now.seconds / 3_600 * 3_600
    return (0..<count).map { index in
      let start = end - Int64(index + 1) * seconds + 600
      return fixture.quantity(RecordFixture.steps, Double(100 + index), "count", ago: fixture.now.seconds - start)
    }
  }

  /// Returns the sums by hour in UTC, computed independently.
  private func sums(_ samples: [Sample]) -> [Int64: Double] {
    samples.reduce(into: [:]) { sums, sample in
      guard case .quantity(let quantity) = sample.payload else { return }
      sums[sample.start.seconds / 3_600 * 3_600, default: 0] += quantity.value
    }
  }

  private func expectSums(
    _ server: HomeAssistantServer, _ samples: [Sample], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let rows = try await server.statistics("hpeer:\(person)_step_count")
    let expected = sums(samples)
    // Hours in which nothing is left have nothing added.
    let found = Dictionary(rows.map { ($0.start, $0.values["change"] ?? 0) }, uniquingKeysWith: +)
      .filter { abs($0.value) > 1e-6 }
    #expect(found == expected, sourceLocation: sourceLocation)
    #expect(rows.last?.values["sum"] == expected.values.reduce(0, +), sourceLocation: sourceLocation)
    let sums = rows.map { $0.values["sum"] ?? 0 }
    #expect(sums == sums.sorted(), sourceLocation: sourceLocation)
  }

  @Test(
    "sums run over the whole series: sent twice still once, late samples and lost hours from there on",
    arguments: HomeAssistantVersion.installed)
  func runningSums(of version: HomeAssistantVersion) async throws {
    let server = try await version.server
    let place = try destination(server, ["states": .boolean(false)])
    var samples = steps(72)
    try await fixture.add(Array(samples[1...]))
    try await fixture.deliver(to: place)
    try await expectSums(server, Array(samples[1...]))
    // Everything once more.
    try await fixture.deliver(to: place, named: "again")
    try await expectSums(server, Array(samples[1...]))
    // Before the series, and at its end.
    let late = steps(51, every: 7_200)[50]
    try await fixture.add([late, samples[0]])
    samples.append(late)
    try await fixture.deliver(to: place)
    try await expectSums(server, samples)
    // An hour loses its samples.
    try await fixture.delete([samples[40]])
    samples.remove(at: 40)
    try await fixture.deliver(to: place)
    try await expectSums(server, samples)
    // What was known here is lost.
    try FileManager.default.removeItem(atPath: fixture.directory.path("state"))
    try await fixture.delete([samples[20]])
    samples.remove(at: 20)
    try await fixture.deliver(to: place)
    try await expectSums(server, samples)
    try await fixture.delete(samples)
    try await fixture.deliver(to: place)
    #expect(try await server.statistics("hpeer:\(person)_step_count").isEmpty)
    await place.close()
  }

  @Test("means, and the hour that lost its samples is gone", arguments: HomeAssistantVersion.installed)
  func means(of version: HomeAssistantVersion) async throws {
    let server = try await version.server
    let place = try destination(server, ["states": .boolean(false)])
    let hour = fixture.now.seconds / 3_600 * 3_600 - 10 * 3_600
    func weight(_ value: Double, at second: Int64) -> Sample {
      fixture.quantity(RecordFixture.bodyMass, value, "kg", ago: fixture.now.seconds - hour - second, for: 0)
    }
    let samples = [weight(80, at: 60), weight(82, at: 120), weight(81, at: 3_700), weight(79, at: 9_000)]
    try await fixture.add(samples)
    try await fixture.deliver(to: place)
    func rows() async throws -> [HomeAssistantServer.Row] { try await server.statistics("hpeer:\(person)_body_mass") }
    var found = try await rows()
    #expect(found.map(\.start) == [hour, hour + 3_600, hour + 7_200])
    #expect(found.first?.values["mean"] == 81)
    #expect(found.first?.values["min"] == 80)
    #expect(found.first?.values["max"] == 82)
    try await fixture.delete([samples[2], samples[0]])
    try await fixture.deliver(to: place)
    found = try await rows()
    #expect(found.map(\.start) == [hour, hour + 7_200])
    #expect(found.first?.values["mean"] == 82)
    await place.close()
  }

  @Test(
    "hours are those of UTC, whatever the zone, and a night is the hour in which it ended",
    arguments: HomeAssistantVersion.installed)
  func utc(of version: HomeAssistantVersion) async throws {
    let fixture = try RecordFixture(zone: ZoneRules(named: "Asia/Kolkata"))
    let server = try await version.server
    let place = try destination(server, ["states": .boolean(false)], of: fixture)
    // Half past six there, so that the night ends in the morning, whenever this runs.
    let hour = (fixture.now.seconds / 86_400 - 1) * 86_400 + 3_600
    var night = fixture.stage(.asleepCore, hours: 1...2)
    (night.start, night.end) = (Timestamp(seconds: hour - 20_000), Timestamp(seconds: hour + 100))
    try await fixture.add([
      fixture.quantity(RecordFixture.steps, 10, "count", ago: fixture.now.seconds - hour, for: 1_800),
      fixture.quantity(RecordFixture.steps, 5, "count", ago: fixture.now.seconds - hour - 1_800, for: 1_800), night,
    ])
    try await fixture.deliver(to: place)
    let rows = try await server.statistics("hpeer:\(person)_step_count")
    #expect(rows.map(\.start) == [hour])
    #expect(rows.first?.values["sum"] == 15)
    let nights = try await server.statistics("hpeer:\(person)_sleep_analysis")
    #expect(nights.map(\.start) == [hour])
    let mean = try #require(nights.first?.values["mean"])
    let (asleep, most) = (20_100.0 / 3_600, 1e-5)
    #expect(abs(mean - asleep) < most)
    await place.close()
  }

  @Test("ten years of days are there, and a change costs what is after it", arguments: HomeAssistantVersion.installed)
  func years(of version: HomeAssistantVersion) async throws {
    let server = try await version.server
    let place = try destination(server, ["states": .boolean(false)])
    let noon = fixture.now.seconds / 86_400 * 86_400 - 43_200
    let samples = (0..<3_650).map { day in
      fixture.quantity(
        RecordFixture.steps, Double(1_000 + day), "count", ago: fixture.now.seconds - noon + Int64(day) * 86_400,
        for: 600)
    }
    try await fixture.add(samples)
    let clock = ContinuousClock()
    let first = try await clock.measure { try await fixture.deliver(to: place) }
    let rows = try await server.statistics("hpeer:\(person)_step_count")
    #expect(rows.count == 3_650)
    let total = Double((0..<3_650).reduce(0) { $0 + 1_000 + $1 })
    #expect(rows.last?.values["sum"] == total)
    try await fixture.delete([samples[30]])
    let change = try await clock.measure { try await fixture.deliver(to: place) }
    let now = try await server.statistics("hpeer:\(person)_step_count")
    #expect(now.count == 3_650)
    #expect(now.last?.values["sum"] == total - 1_030)
    #expect(now.prefix(3_600) == rows.prefix(3_600))
    #expect(change < first)
    print("home-assistant: ten years of days in \(first), a change 30 days ago in \(change)")
    await place.close()
  }

  // MARK: MQTT discovery

  @Test(
    "what MQTT publishes is shown as sensors",
    .enabled(if: MosquittoBroker.isInstalled, Comment(rawValue: MosquittoBroker.missing)),
    arguments: HomeAssistantVersion.installed)
  func discovery(of version: HomeAssistantVersion) async throws {
    let server = try await version.server
    let broker = try MosquittoBroker()
    try broker.start()
    let flows = "api/config/config_entries/flow"
    guard case .object(let flow)? = try await server.ask("POST", flows, .object(["handler": .string("mqtt")])),
      case .string(let id)? = flow["flow_id"]
    else { throw HomeAssistantServer.Failure(description: "no flow") }
    var answers: [String: JSONValue] = ["broker": .string("127.0.0.1"), "port": .integer(Int64(broker.port))]
    if version == .current {
      answers["protocol"] = .string("5")
      answers["other_settings"] = .object(["set_client_cert": .bool(false), "set_ca_cert": .string("off")])
    }
    _ = try await server.ask("POST", "\(flows)/\(id)", .object(answers))
    let place = try MQTTDestination(
      DestinationSettings(
        ["url": .text("mqtt://127.0.0.1:\(broker.port)"), "person": .text("\(person)m"), "discovery": .boolean(true)],
        of: MQTTDestination.self), in: fixture.environment())
    try await fixture.add([
      fixture.quantity(RecordFixture.steps, 800, "count", ago: 3_600),
      fixture.quantity(RecordFixture.heartRate, 61, "count/min", ago: 3_600), fixture.stage(.asleepCore, hours: 5...12),
    ])
    try await fixture.deliver(to: place)
    func state(_ name: String, _ wanted: String) async throws -> HomeAssistantServer.State? {
      var found: HomeAssistantServer.State?
      for _ in 0..<600 {
        found = try await server.state("sensor.hpeer_\(person)m_\(name)")
        if found?.state == wanted { break }
        try await Task.sleep(for: .milliseconds(100))
      }
      return found
    }
    let steps = try #require(try await state("step_count", "800"))
    #expect(steps.state == "800")
    #expect(steps.attributes["state_class"] == .string("total"))
    #expect(steps.attributes["source"] == .string("Watch"))
    #expect(try await state("heart_rate", "61")?.attributes["unit_of_measurement"] == .string("bpm"))
    let sleep = try #require(try await state("sleep_analysis", "7.0"))
    #expect(sleep.attributes["device_class"] == .string("duration"))
    await place.close()
    broker.kill()
    #expect(try await state("step_count", "unavailable")?.state == "unavailable")
  }

  // MARK: Checking

  @Test(
    "a check leaves nothing behind, and says what is wrong in a sentence",
    arguments: HomeAssistantVersion.installed)
  func check(of version: HomeAssistantVersion) async throws {
    let server = try await version.server
    try await destination(server).check()
    #expect(try await server.state("sensor.hpeer_\(person)_probe") == nil)
    #expect(try await server.statistics("hpeer:\(person)_probe").isEmpty)
    let wrong = DeliveryError.unusable(
      reason: "127.0.0.1 does not take the token: is it a long-lived access token of this server?")
    #expect(await reason { try await destination(server, token: "guess").check() } == wrong)
    #expect(
      await reason { try await destination(server, ["states": .boolean(false)], token: "guess").check() } == wrong)
    let other = try RawEndpoint { $0.answer(200, [:], "hello") }
    let page = try destination(server, ["url": .text(other.url), "history": .boolean(false)])
    #expect(
      await reason { try await page.check() }
        == .unusable(reason: "127.0.0.1 answers 200 where a state is set: is url Home Assistant's?"))
    let elsewhere = try destination(server, ["url": .text(other.url), "states": .boolean(false)])
    guard case .unusable(let said)? = await reason({ try await elsewhere.check() }) else {
      Issue.record("no error")
      return
    }
    #expect(said.contains("speaks no WebSocket"))
  }

  @Test("a webhook that is not there answers 200, and is no success", arguments: HomeAssistantVersion.installed)
  func wrongWebhook(of version: HomeAssistantVersion) async throws {
    let server = try await version.server
    let place = try destination(
      server, ["states": .boolean(false), "history": .boolean(false), "webhook-id": .text("healthpush_nobody")])
    try await fixture.add([fixture.quantity(RecordFixture.steps, 500, "count", ago: 7_200)])
    let error = await reason { try await place.check() }
    guard case .unusable(let said)? = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(said.contains("without having taken anything"))
    await #expect(throws: CourierError.self) { try await fixture.deliver(to: place) }
    await place.close()
  }
}
