import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

/// Tests that a single reading is shown if several senders have readings for the same period, and that all readings
/// are stored.
@Suite struct ReadingChoiceTests {
  private static let type = SampleType("p247.step_count")
  private static let day = Timestamp(seconds: 1_720_000_000 / 86_400 * 86_400)

  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  /// - Parameters:
  ///   - hour: The time of the reading, in hours since the beginning of the day.
  ///   - end: The end of the period, in hours since the beginning of the day.
  private func reading(_ value: Double, at hour: Int64, end: Int64 = 24, period: String? = "day") -> Sample {
    func instant(_ hours: Int64) -> Timestamp { Timestamp(seconds: Self.day.seconds + hours * 3600) }
    return Sample(
      uuid: SampleIdentity.namespace, type: Self.type, start: Self.day, end: instant(end), created: instant(hour),
      source: Source(name: "P247"), metadata: period.map { ["hpeer.aggregation": .string($0)] } ?? [:],
      payload: .quantity(Quantity(value, "count")))
  }

  private func say(_ reading: Sample, _ sender: String) async throws {
    _ = try await store.receive([], readings: [reading], road: .unknown, from: sender, if: { _ in true })
  }

  private func shown() async throws -> [Double] {
    try await store.samples.page(of: Self.type, limit: 10).map { sample in
      guard case .quantity(let quantity) = sample.payload else { return .nan }
      return quantity.value
    }
  }

  private func expectHeld(_ count: Int) async throws {
    #expect(try await store.allChanges().count == count)
    #expect(try await HealthStore.checkIntegrity(directory: fixture.directory.path).findings == [])
  }

  @Test func anothersReadingIsNotOverwritten() async throws {
    try await say(reading(9000, at: 25), "inbox:phone")
    // Whatever time its body chooses.
    try await say(reading(1, at: 23), "inbox:stranger")
    #expect(try await shown() == [9000])
    try await expectHeld(2)
    try await say(reading(9500, at: 26), "inbox:phone")
    #expect(try await shown() == [9500])
    try await expectHeld(2)
  }

  @Test func theNewestOfTheDayAndThenTheWholeOne() async throws {
    try await say(reading(3000, at: 8, end: 8), "inbox:phone")
    try await say(reading(5000, at: 10, end: 10), "inbox:watch")
    #expect(try await shown() == [5000])
    try await say(reading(9000, at: 24), "inbox:phone")
    try await say(reading(7000, at: 20, end: 20), "inbox:watch")
    #expect(try await shown() == [9000])
    try await say(reading(120, at: 30), "inbox:watch")
    #expect(try await shown() == [9000])
    try await say(reading(9100, at: 31), "inbox:watch")
    #expect(try await shown() == [9100])
    try await expectHeld(2)
  }

  @Test func anotherPeriodIsShownBeside() async throws {
    try await say(reading(9000, at: 24), "inbox:phone")
    try await say(reading(400, at: 24, end: 1, period: "hour"), "inbox:phone")
    #expect(try await shown().sorted() == [400, 9000])
  }

  @Test func aConsumerSeesOneAndItsGoing() async throws {
    try await say(reading(3000, at: 8), "inbox:phone")
    try await say(reading(5000, at: 25), "inbox:watch")
    let shown = try await shown()
    _ = try await store.samples.delete(Self.type, in: Self.day..<Timestamp(seconds: Self.day.seconds + 1))
    #expect(shown == [5000])
    #expect(try await self.shown().isEmpty)
    try await say(reading(5500, at: 26), "inbox:watch")
    #expect(try await self.shown().isEmpty)
  }

  @Test func machinesThatHoldTheSameShowTheSame() async throws {
    let other = try StoreFixture()
    try await say(reading(3000, at: 30), "inbox:phone")
    try await say(reading(5000, at: 25), "inbox:watch")
    for change in try await store.allChanges().reversed() { try await other.store.take(change) }
    #expect(
      try await other.store.samples.page(of: Self.type, limit: 10).map(\.uuid)
        == store.samples.page(of: Self.type, limit: 10).map(\.uuid))
    #expect(try await shown() == [5000])
  }
}
