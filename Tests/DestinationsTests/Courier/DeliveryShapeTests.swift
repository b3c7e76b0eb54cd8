import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import Synchronization
import TestSupport
import Testing

@testable import Destinations

/// Tests of deliveries that contain something other than samples, or samples in other units.
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

  /// Returns the values and units at a place, ordered by time and type.
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

  /// Expects that the days at a place equal those of the record.
  private func expectDays(of type: SampleType, at place: ScriptedDestination, _ comment: Comment) async throws {
    var query = StatisticsQuery(type, by: .day, in: fixture.zone)
    query.isPlausibleOnly = true
    let record = try await query.run(on: fixture.store).values.map { ($0.bucket.start, $0.number.representative) }
    let delivered = place.seen.samples.values.filter { $0.type == type }.map { sample in
      guard case .quantity(let quantity) = sample.payload else { return (sample.start, Double.nan) }
      return (sample.start, quantity.value)
    }.sorted { $0.0 < $1.0 }
    #expect(delivered.map(\.0) == record.map(\.0), comment)
    for (one, other) in zip(delivered, record) { #expect(abs(one.1 - other.1) <= 1e-9 * max(1, other.1), comment) }
  }

  @Test("of twelve years, each day arrives")
  func twelveYears() async throws {
    let place = ScriptedDestination()
    try await fixture.add(
      (0..<4_380).map { fixture.quantity(RecordFixture.heartRate, 50, "count/min", ago: 86_400 * $0 + 600, for: 0) })
    let report = try await courier(place, ["data": .text("day")]).run()
    #expect(report.refused == 0 && place.seen.samples.count == 4_380)
    try await expectDays(of: RecordFixture.heartRate, at: place, "heart rates")
  }

  @Test("days that arrive are those of the record, whatever its samples are like", arguments: 0..<12)
  func days(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let place = ScriptedDestination(
      DestinationCapabilities(maximumChanges: random.pick([3, 50, 5_000]), deadline: .seconds(1_000_000)))
    let courier = try courier(place, ["data": .text("day")])
    var held: [Sample] = []
    for round in 0..<3 {
      let new = (0..<Int.random(in: 1...60, using: &random)).map { _ in
        let length = random.pick([0, 60, 7_200, 86_400, 40 * 86_400, 3_000 * 86_400] as [Int64])
        return fixture.quantity(
          RecordFixture.steps, Double(Int.random(in: 1...9_000, using: &random)), "count",
          ago: Int64.random(in: length..<12 * 365 * 86_400, using: &random), for: length)
      }
      try await fixture.add(new)
      held += new
      let gone = held.filter { _ in random.oneIn(5) }
      try await fixture.store.apply(ChangeBatch(deletions: gone.map { Tombstone(of: $0, deleted: .now) }))
      held.removeAll { sample in gone.contains { $0.uuid == sample.uuid } }
      _ = try await courier.run()
      try await expectDays(of: RecordFixture.steps, at: place, "round \(round)")
    }
  }

  @Test("a sample as long as a life keeps no other day away, and one of no sense is refused by name")
  func longSample() async throws {
    let place = ScriptedDestination()
    let century: Int64 = 125 * 365 * 86_400
    try await fixture.add(
      (0..<100).map { fixture.quantity(RecordFixture.steps, 500, "count", ago: 86_400 * $0 + 600) })
    try await fixture.add([fixture.quantity(RecordFixture.steps, 1, "count", ago: century, for: century)])
    let days = try await courier(place, ["data": .text("day")]).run()
    #expect(days.refused == 0)
    try await expectDays(of: RecordFixture.steps, at: place, "with a long one")

    let other = ScriptedDestination()
    let ahead = fixture.quantity(RecordFixture.steps, 7, "count", ago: -7_000 * 365 * 86_400)
    try await fixture.add([ahead])
    let hours = Courier(
      to: other, named: "test:hours", from: fixture.store, policy: RetryPolicy(tolerance: 1),
      deadLetters: DeadLetters(path: fixture.directory.path("hours.jsonl")),
      shape: DeliveryShape(try settings(["data": .text("hour")]), fixture.reader()))
    #expect(try await hours.run().refused == 2)
    #expect(other.seen.samples.count == 100)
    let letters = try await DeadLetters(path: fixture.directory.path("hours.jsonl")).read()
    let reasons = ["it is too long to be sent as hours", "its time cannot be right: its hours are not sent"]
    #expect(letters.map(\.reason).sorted() == reasons)
    #expect(letters.contains { $0.sample == ahead.reference })
    let again = Redelivery(
      to: other, of: "test:hours", from: fixture.store, filter: .everything,
      deadLetters: DeadLetters(path: fixture.directory.path("hours.jsonl")),
      shape: DeliveryShape(try settings(["data": .text("hour")]), fixture.reader()))
    #expect(try await again.run() == CourierReport(refused: 2))
    #expect(try await DeadLetters(path: fixture.directory.path("hours.jsonl")).read().count == 2)
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
