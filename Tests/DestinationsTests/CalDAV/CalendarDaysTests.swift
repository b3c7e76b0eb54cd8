import Foundation
import HealthModel
import Testing

@testable import Destinations

/// Tests of the conversion of days to events, without a calendar.
@Suite("Events of days") struct CalendarDaysTests {
  private let fixture: RecordFixture

  init() throws { fixture = try RecordFixture() }

  /// Returns the event changes for a set of samples.
  private func changes(
    _ samples: [Sample], _ filter: SampleFilter = .everything, sendsNames: Bool = true
  ) async throws -> [CalendarDays.Change] {
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    let days = CalendarDays(record: fixture.reader(filter, sendsNames: sendsNames), hasNights: true, milestones: [])
    return try await days.changes(of: DeliveryBatch(changes: coder.changes, startsOver: false))
  }

  @Test("nights outside the time that was selected are none")
  func selection() async throws {
    // Two nights, of today and of the day before.
    let nights = [fixture.stage(.asleepCore, hours: 5...12), fixture.stage(.asleepCore, hours: 29...36)]
    try await fixture.add(nights)
    #expect(try await changes(nights).compactMap(\.event).count == 2)
    let noon = Timestamp(seconds: fixture.now.seconds - 86_400)
    let later = try await changes(nights, SampleFilter(earliest: noon))
    #expect(later.compactMap(\.event?.time) == [.instants(start: nights[0].start, end: nights[0].end)])
    let earlier = try await changes(nights, SampleFilter(end: noon))
    #expect(earlier.compactMap(\.event?.time) == [.instants(start: nights[1].start, end: nights[1].end)])
  }

  @Test("what an app has sent of a day makes its milestone")
  func readings() async throws {
    let day = fixture.zone.start(ofDay: fixture.today - 1)
    let sent = Sample(
      uuid: UUID(), type: SampleType("hae.step_count"), start: Timestamp(seconds: day),
      end: Timestamp(seconds: day + 86_400), source: Source(name: "iPhone"),
      metadata: ["hpeer.aggregation": .string("day")], payload: .quantity(Quantity(12_000, "count")))
    try await fixture.add([sent])
    var coder = ChangeCoder()
    try coder.add(sent)
    let goal = CalendarDays.Milestone(type: RecordFixture.steps, threshold: 10_000, unit: nil, name: "steps")
    let days = CalendarDays(record: fixture.reader(), hasNights: false, milestones: [goal])
    let changes = try await days.changes(of: DeliveryBatch(changes: coder.changes, startsOver: false))
    #expect(changes.compactMap(\.event).map(\.time) == [.day(fixture.today - 1)])
  }

  @Test("a night says no source where names do not travel")
  func names() async throws {
    let night = fixture.stage(.asleepCore, hours: 5...12)
    try await fixture.add([night])
    let named = try await changes([night]).compactMap(\.event)
    #expect(named.map(\.description) == [["Core 7 h 0 min", "Watch"]])
    let nameless = try await changes([night], sendsNames: false).compactMap(\.event)
    #expect(nameless.map(\.description) == [["Core 7 h 0 min"]])
  }
}
