import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests of the days and hours of a traveller.
@Suite struct TravelZonesTests {
  private static let names = [
    "Europe/Berlin", "America/New_York", "Pacific/Apia", "Pacific/Pago_Pago", "Asia/Kathmandu", "Australia/Lord_Howe",
    "UTC", "Nowhere/Land", "", "../passwd",
  ]
  /// The start of the test, 2024-06-15T00:00:00Z.
  private static let start: Int64 = 1_718_409_600
  private static let day: Int64 = 86_400

  private let home: ZoneRules

  init() throws { home = try ZoneRules(named: "Europe/Berlin") }

  private func travel(_ stays: [(start: Int64, name: String)]) -> ZoneRules {
    var zones = TravelZones(home: home)
    for stay in stays { zones.add(stay.start, stay.name) }
    return zones.finish()
  }

  /// Returns the offset computed directly from the definition, sample by sample.
  private func oracle(_ stays: [(start: Int64, name: String)], at seconds: Int64) -> Int {
    let valid = stays.filter { (try? ZoneRules(named: $0.name)) != nil }
    guard let newest = valid.last(where: { $0.start <= seconds }), seconds - newest.start <= 36 * 3600,
      let zone = try? ZoneRules(named: newest.name)
    else { return home.offset(at: seconds) }
    return zone.offset(at: seconds)
  }

  @Test func aSampleSaysForADayAndAHalfWhereOneIs() {
    let zone = travel([(Self.start, "America/New_York")])
    #expect(zone.offset(at: Self.start - 1) == 7200)
    #expect(zone.offset(at: Self.start) == -14_400)
    #expect(zone.offset(at: Self.start + 36 * 3600) == -14_400)
    #expect(zone.offset(at: Self.start + 36 * 3600 + 1) == 7200)
    // In winter home has another offset again.
    #expect(zone.offset(at: Self.start + 200 * Self.day) == 3600)
    #expect(travel([]).offset(at: 0) == home.offset(at: 0))
  }

  @Test func aDayOfFlyingIsLongOrShort() throws {
    let number = Int(Self.start / Self.day)
    // At noon in Berlin to New York; the day is six hours longer.
    let west = travel((0..<12).map { (Self.start + 36_000 + $0 * 3600, "America/New_York") })
    #expect(west.day(number).count == 30 * 3600)
    let east = travel((0..<12).map { (Self.start + 36_000 + $0 * 3600, "Asia/Tokyo") })
    #expect(east.day(number).count == 17 * 3600)
    // Over the date line and back: there is no second 15 June, nor a gap.
    let back = travel([(Self.start - 30_000, "Pacific/Apia"), (Self.start + 7200, "Pacific/Pago_Pago")])
    #expect(back.day(number).upperBound == back.day(number + 1).lowerBound)
  }

  @Test func daysAndHoursTileTheTimeOfEveryJourney() throws {
    var random = SeededGenerator(seed: 36)
    for _ in 0..<60 {
      var stays: [(start: Int64, name: String)] = []
      var time = Self.start - 20 * Self.day
      while time < Self.start + 20 * Self.day {
        stays.append((time, Self.names.randomElement(using: &random) ?? ""))
        time += Int64.random(in: 0...(Bool.random(using: &random) ? 7_000 : 300_000), using: &random)
      }
      let zone = travel(stays)
      for _ in 0..<50 {
        let seconds = Int64.random(in: Self.start - 25 * Self.day...Self.start + 25 * Self.day, using: &random)
        #expect(zone.offset(at: seconds) == oracle(stays, at: seconds))
      }
      let first = Int(Self.start / Self.day) - 25
      var previous = zone.start(ofDay: first)
      for number in first..<first + 50 {
        let day = zone.day(number)
        #expect(day.lowerBound == previous)
        previous = day.upperBound
        if day.isEmpty { continue }
        #expect(zone.dayNumber(at: day.lowerBound) >= number)
        #expect(zone.dayNumber(at: day.lowerBound - 1) < number)
      }
      let range = Timestamp(seconds: Self.start - 22 * Self.day)..<Timestamp(seconds: Self.start + 22 * Self.day)
      let hours = try CalendarBuckets(.hour, in: zone, range)
      let days = try CalendarBuckets(.day, in: zone, range)
      for buckets in [hours, days] {
        #expect(zip(buckets.edges, buckets.edges.dropFirst()).allSatisfy { $0 < $1 })
        #expect(buckets.edges.first == range.lowerBound.microseconds)
        #expect(buckets.edges.last == range.upperBound.microseconds)
      }
      for index in 0..<hours.count {
        let hour = hours[index]
        #expect(zone.offset(at: hour.start.seconds) == zone.offset(at: hour.end.seconds - 1))
        #expect(hour.end.seconds - hour.start.seconds <= 3600)
      }
      // Hours lie within days, so that their sums are those of the day.
      #expect(Set(days.edges).isSubset(of: hours.edges))
    }
  }

  @Test func theStoreSaysWhereSomebodyWas() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    let samples = [
      (0, MetadataValue.string("America/New_York")), (86_400, .integer(5)), (100_000, .string("Nowhere/Land")),
      (120_000, .string("Asia/Tokyo")),
    ].map { (second: Int64, zone: MetadataValue) in
      Sample(
        uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierHeartRate"),
        start: Timestamp(seconds: Self.start + second), end: Timestamp(seconds: Self.start + second),
        source: Source(name: "Watch"), metadata: ["HKTimeZone": zone, "HKOther": "HKTimeZone"],
        payload: .quantity(Quantity(60, "count/min")))
    }
    try await store.apply(ChangeBatch(additions: samples))
    let zone = try await ZoneRules.travel(in: store, home: home)
    #expect([-1, 0, 110_000, 120_000].map { zone.offset(at: Self.start + $0) } == [7200, -14_400, -14_400, 32_400])
    let later = Timestamp(seconds: Self.start + 121_000)..<Timestamp(seconds: Self.start + 130_000)
    #expect(try await ZoneRules.travel(in: store, later, home: home).offset(at: later.lowerBound.seconds) == 32_400)
  }
}
