import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

/// Tests of readings of the same number from several files: the newest wins, in any order of import.
@Suite struct ReadingTests {
  private static let day: Int64 = 86_400

  /// Returns the readings in a file about some days, as of the last of them.
  private static func file(days: ClosedRange<Int>, drift: Double) -> [Sample] {
    days.map { number in
      let start = Timestamp(seconds: 1_718_409_600 + Int64(number) * day)
      var sample = Sample(
        uuid: SampleMaker.noIdentity, type: SampleType("hae.step_count"), start: start,
        end: Timestamp(seconds: start.seconds + day),
        created: Timestamp(seconds: 1_718_409_600 + Int64(days.upperBound) * day),
        source: Source(name: "Watch|iPhone"),
        payload: .quantity(Quantity(Double(number * 1000) + (number >= days.upperBound - 1 ? 0 : drift), "count")))
      sample.uuid = SampleIdentity.uuid(ofReading: sample)
      return sample
    }
  }

  /// A quarter, a week and a day that overlap and differ in age.
  private static let files = [
    file(days: 0...60, drift: 5.5), file(days: 55...61, drift: 3), file(days: 62...62, drift: 0),
  ]

  private static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]

  /// Returns the readings without their age, because a reading that repeats the previous value doesn't count as
  /// newer.
  private func contents(_ order: [Int]) async throws -> [Sample] {
    let store = try StoreFixture()
    for index in order { try await store.store.add(readings: Self.files[index]) }
    return try await store.store.samples.page(of: SampleType("hae.step_count"), limit: 1000).map { sample in
      var sample = sample
      sample.created = nil
      return sample
    }
  }

  @Test func sixOrdersGiveOneTable() async throws {
    let expected = try await contents(Self.orders[0])
    #expect(expected.count == 63)
    for order in Self.orders.dropFirst() { #expect(try await contents(order) == expected, "\(order)") }
  }

  @Test func theSameFileAgainChangesNothing() async throws {
    let fixture = try StoreFixture()
    try await fixture.store.add(readings: Self.files[0])
    let again = try await fixture.store.add(readings: Self.files[0])
    #expect(again.total == .init(unchanged: 61))
  }

  @Test func anotherSourceOrPeriodIsAnotherThing() async throws {
    let fixture = try StoreFixture()
    var samples = Self.file(days: 1...1, drift: 0)
    var other = samples[0]
    other.source.name = "Watch"
    samples.append(other)
    other.end = Timestamp(seconds: other.start.seconds + 7 * Self.day)
    samples.append(other)
    for index in samples.indices { samples[index].uuid = SampleIdentity.uuid(ofReading: samples[index]) }
    #expect(try await fixture.store.add(readings: samples).added == 3)
    // And a value that comes back is not the deleted one.
    var newer = samples[0]
    for value in [7.0, 1000, 7] {
      newer.payload = .quantity(Quantity(value, "count"))
      newer.created = newer.created.map { Timestamp(seconds: $0.seconds + 1) }
      newer.uuid = SampleIdentity.uuid(ofReading: newer)
      let summary = try await fixture.store.add(readings: [newer])
      #expect((summary.added, summary.deleted) == (1, 1))
    }
    let held = try await fixture.store.samples.page(of: newer.type, limit: 10)
    #expect(held.count == 3)
    #expect(held.contains { $0.payload == newer.payload && $0.source == newer.source })
  }
}

extension SampleMaker {
  fileprivate static var noIdentity: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}
