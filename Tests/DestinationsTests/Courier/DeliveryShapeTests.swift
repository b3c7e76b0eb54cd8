import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import Synchronization
import TestSupport
import Testing

@testable import Destinations

/// What travels where it is not samples, or not in their units.
@Suite("Shapes of deliveries", .timeLimit(.minutes(5))) struct DeliveryShapeTests {
  private let fixture: RecordFixture

  init() throws { fixture = try RecordFixture() }

  private func settings(_ values: [String: DestinationSettings.Value]) throws -> CommonSettings {
    try CommonSettings(values)
  }

  private func courier(
    _ place: ScriptedDestination, _ values: [String: DestinationSettings.Value],
    filter: SampleFilter = .everything
  ) throws -> Courier<ScriptedDestination> {
    Courier(
      to: place, named: "test:home", from: fixture.store, filter: filter, policy: RetryPolicy(tolerance: 1),
      deadLetters: DeadLetters(path: fixture.directory.path("refused.jsonl")), sendsNames: false,
      shape: DeliveryShape(try settings(values), fixture.reader(filter)))
  }

  /// What a place has, by type and time: values with their units.
  private func found(_ place: ScriptedDestination) -> [String] {
    place.seen.samples.values.sorted { ($0.start, $0.type.rawValue) < ($1.start, $1.type.rawValue) }.map { sample in
      guard case .quantity(let quantity) = sample.payload else { return "no number" }
      return "\(sample.type.shortName) \((quantity.value * 100).rounded() / 100) \(quantity.unit)"
    }
  }

  @Test("days travel as their sums and means; one that changes comes again in its place, one that is empty goes")
  func days() async throws {
    let place = ScriptedDestination()
    let second = fixture.quantity(RecordFixture.steps, 300, "count", ago: 86_400)
    try await fixture.add([
      fixture.quantity(RecordFixture.steps, 500, "count", ago: 7_200), second,
      fixture.quantity(RecordFixture.heartRate, 60, "count/min", ago: 600, for: 0),
      fixture.stage(.asleepCore, hours: 5...9),
    ])
    let courier = try courier(place, ["data": .text("day")])
    _ = try await courier.run()
    #expect(found(place) == ["stepCount 300.0 count", "heartRate 60.0 count/min", "stepCount 500.0 count"])
    let today = try #require(
      place.seen.samples.values.first { $0.type == RecordFixture.steps && $0.start > second.start })
    #expect(today.start.seconds == fixture.zone.start(ofDay: fixture.today))
    #expect(today.end.seconds == fixture.zone.start(ofDay: fixture.today + 1))
    #expect(today.source == DeliveryShape.source)

    try await fixture.add([fixture.quantity(RecordFixture.steps, 50, "count", ago: 3_600)])
    _ = try await courier.run()
    #expect(found(place).last == "stepCount 550.0 count" && place.seen.samples.count == 3)
    #expect(place.seen.samples[today.uuid] != nil)
    try await fixture.delete([second])
    _ = try await courier.run()
    #expect(found(place) == ["heartRate 60.0 count/min", "stepCount 550.0 count"])
    #expect(try await courier.run() == CourierReport())
  }

  @Test("hours travel each for itself, in the units that were asked for and within the selection")
  func hours() async throws {
    let place = ScriptedDestination()
    // The fixture's noon: whole hours before it.
    let noon = fixture.zone.start(ofDay: fixture.today) + 12 * 3_600
    func weight(_ value: Double, at seconds: Int64) -> Sample {
      var sample = fixture.quantity(RecordFixture.bodyMass, value, "kg", ago: 0, for: 0)
      (sample.start, sample.end) = (Timestamp(seconds: noon + seconds), Timestamp(seconds: noon + seconds))
      return sample
    }
    try await fixture.add([
      weight(80, at: -7_000), weight(82, at: -6_800), weight(90, at: -3_000), weight(70, at: -40_000),
    ])
    let filter = SampleFilter(earliest: Timestamp(seconds: noon - 6_900))
    _ = try await courier(place, ["data": .text("hour"), "units": .table(["bodyMass": "g"])], filter: filter).run()
    #expect(found(place) == ["bodyMass 82000.0 g", "bodyMass 90000.0 g"])
    #expect(place.seen.samples.values.allSatisfy { $0.end.seconds - $0.start.seconds == 3_600 })
  }

  @Test("samples in other units are the same samples otherwise")
  func units() async throws {
    let place = ScriptedDestination()
    let weight = fixture.quantity(RecordFixture.bodyMass, 80, "kg", ago: 600)
    let steps = fixture.quantity(RecordFixture.steps, 5, "count", ago: 600)
    try await fixture.add([weight, steps])
    let courier = try courier(place, ["units": .table(["bodyMass": "g"])])
    #expect(try await courier.run() == CourierReport(delivered: 2))
    guard case .quantity(let quantity)? = place.seen.samples[weight.uuid]?.payload else {
      Issue.record("it is not there")
      return
    }
    #expect(quantity == Quantity(80_000, "g"))
    #expect(place.seen.samples[steps.uuid]?.payload == steps.payload)
    try await fixture.delete([weight])
    _ = try await courier.run()
    #expect(Set(place.seen.samples.keys) == [steps.uuid])
  }

  @Test("an hour that was refused is made anew when it is delivered again")
  func refused() async throws {
    let isStrict = Mutex(true)
    let place = ScriptedDestination(before: { _, batch in
      if isStrict.withLock(\.self), batch.changes.samples.contains(where: { $0.number == 500 }) {
        throw DeliveryError.refused(reason: "400")
      }
    })
    try await fixture.add([
      fixture.quantity(RecordFixture.steps, 500, "count", ago: 7_200),
      fixture.quantity(RecordFixture.steps, 300, "count", ago: 86_400),
    ])
    let values: [String: DestinationSettings.Value] = ["data": .text("day")]
    let report = try await courier(place, values).run()
    #expect(report.refused == 1 && found(place) == ["stepCount 300.0 count"])
    isStrict.withLock { $0 = false }
    let letters = DeadLetters(path: fixture.directory.path("refused.jsonl"))
    let again = Redelivery(
      to: place, of: "test:home", from: fixture.store, filter: .everything, deadLetters: letters,
      shape: DeliveryShape(try settings(values), fixture.reader()))
    #expect(try await again.run() == CourierReport(delivered: 1))
    #expect(found(place) == ["stepCount 300.0 count", "stepCount 500.0 count"])
    #expect(try await letters.read().isEmpty)
  }

  @Test("a batch that has become more than the place takes is divided")
  func divided() async throws {
    let place = ScriptedDestination(
      DestinationCapabilities(maximumChanges: 3, deadline: .seconds(1_000_000)),
      before: { _, batch in if batch.count > 3 { throw DeliveryError.refused(reason: "too much") } })
    // One that goes over nine hours.
    try await fixture.add([fixture.quantity(RecordFixture.steps, 900, "count", ago: 32_400, for: 32_400)])
    let report = try await courier(place, ["data": .text("hour")]).run()
    #expect(report.refused == 0 && place.seen.samples.count >= 9)
  }

  @Test(
    "what makes no sense is refused with its key",
    arguments: [
      ("data", "kind = \"mqtt\"\nurl = \"mqtt://localhost\"\ndata = \"day\""),
      ("data", "kind = \"folder\"\npath = \"/x\"\ndata = \"week\""),
      ("units", "kind = \"folder\"\npath = \"/x\"\nunits = { bodyMass = \"km\" }"),
      ("units", "kind = \"folder\"\npath = \"/x\"\nunits = { sleepAnalysis = \"h\" }"),
      ("units", "kind = \"caldav\"\nurl = \"https://example.org/\"\nunits = { bodyMass = \"lb\" }"),
    ])
  func settings(_ key: String, _ lines: String) throws {
    let error = #expect(throws: SettingsFileError.self) {
      try SettingsFile(text: "[destination.a]\n\(lines)\n", path: "config.toml")
    }
    #expect(error?.key == "destination.a.\(key)" && error?.line == 4)
    let file = try SettingsFile(
      text: "[destination.a]\nkind = \"folder\"\npath = \"/x\"\ndata = \"day\"\nunits = { bodyMass = \"lb\" }\n",
      path: "config.toml")
    #expect(file.destination("a")?.common.data == .day)
    #expect(file.destination("a")?.common.units == [RecordFixture.bodyMass: "lb"])
  }
}
