import Foundation
import HealthAnalysis
import HealthModel
import TestSupport
import Testing

@testable import Destinations

@Suite("Current values")
struct CurrentValueTests {
  private let fixture: RecordFixture

  init() throws { fixture = try RecordFixture() }

  private func value(of type: SampleType, _ filter: SampleFilter = .everything) async throws -> CurrentValue? {
    try await fixture.reader(filter).currentValue(of: type, now: fixture.now)
  }

  @Test("a sum is today's total, whatever came last, and what two sources saw counts once")
  func total() async throws {
    try await fixture.add([
      fixture.quantity(RecordFixture.steps, 500, "count", ago: 7_200),
      fixture.quantity(RecordFixture.steps, 300, "count", ago: 3_600),
      fixture.quantity(RecordFixture.steps, 300, "count", ago: 3_600, source: "Phone"),
      fixture.quantity(RecordFixture.steps, 9_000, "count", ago: 86_400),
    ])
    let value = try #require(try await value(of: RecordFixture.steps))
    #expect(value.number == 800)
    #expect(value.unit == "count")
    #expect(value.source != nil)
    let nameless = try await fixture.reader(sendsNames: false).currentValue(of: RecordFixture.steps, now: fixture.now)
    #expect(nameless?.number == 800)
    #expect(nameless?.source == nil)
    #expect(value.start.seconds == fixture.zone.start(ofDay: fixture.today))
    let phone = try await self.value(of: RecordFixture.steps, SampleFilter(sources: ["Phone"]))
    #expect(phone?.number == 300)
    #expect(try await self.value(of: RecordFixture.steps, SampleFilter(types: [])) == nil)
  }

  @Test("a day without samples has 0 as long as there are any, and a type without samples nothing")
  func empty() async throws {
    #expect(try await value(of: RecordFixture.steps) == nil)
    let sample = fixture.quantity(RecordFixture.steps, 9_000, "count", ago: 86_400)
    try await fixture.add([sample])
    #expect(try await value(of: RecordFixture.steps)?.number == 0)
    try await fixture.delete([sample])
    #expect(try await value(of: RecordFixture.steps) == nil)
  }

  @Test("a reading is the newest that says a number, in the type's unit")
  func latest() async throws {
    try await fixture.add([
      fixture.quantity(RecordFixture.bodyMass, 80, "kg", ago: 7_200),
      fixture.quantity(RecordFixture.bodyMass, 176.36981, "lb", ago: 3_600),
      fixture.quantity(RecordFixture.bodyMass, .nan, "kg", ago: 60),
    ])
    let value = try #require(try await value(of: RecordFixture.bodyMass))
    #expect(value.unit == "kg")
    #expect(abs((value.number ?? 0) - 80) < 1e-4)
    #expect(value.start.seconds == fixture.now.seconds - 3_600)
  }

  @Test("sleep is last night's, in hours, without the nap and the nights before")
  func sleep() async throws {
    try await fixture.add([
      fixture.stage(.asleepCore, hours: 28...36), fixture.stage(.inBed, hours: 4.5...13),
      fixture.stage(.asleepCore, hours: 9...12.5), fixture.stage(.asleepDeep, hours: 7...9),
      fixture.stage(.awake, hours: 6.5...7), fixture.stage(.asleepREM, hours: 5...6.5),
      fixture.stage(.asleepUnspecified, hours: 0.5...1),
    ])
    let value = try #require(try await value(of: RecordFixture.sleep))
    #expect(value.number == 7)
    #expect(value.unit == "hr")
    #expect(
      value.details == [
        "core_hours": 3.5, "deep_hours": 2, "rem_hours": 1.5, "awake_hours": 0.5, "in_bed_hours": 8.5,
        "naps_hours": 0.5,
      ])
    #expect(value.start.seconds == fixture.now.seconds - 45_000)
    // A day later it is still the last one.
    let later = Timestamp(seconds: fixture.now.seconds + 86_400)
    #expect(try await fixture.reader().currentValue(of: RecordFixture.sleep, now: later)?.number == 7)
  }

  @Test("categories and workouts are called what they are")
  func texts() async throws {
    let stand = SampleType("HKCategoryTypeIdentifierAppleStandHour")
    var sample = fixture.stage(.inBed, hours: 1...2)
    sample.type = stand
    try await fixture.add([sample])
    #expect(try await value(of: stand)?.content == .text("HKCategoryValueAppleStandHourStood"))
  }
}
