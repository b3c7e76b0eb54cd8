import Foundation
import HealthModel
import Testing

@testable import HealthAnalysis

/// Tests with the vectors T1 to T8 of days on which clocks were changed.
@Suite struct ZoneRulesTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    var name: String
    var zone: String
    var date: String
    var hours: Double
    var buckets: Int
    /// The lengths in minutes of some of its hours, by the hour's name.
    var some: [String: Int]
    var testDescription: String { name }
  }

  static let vectors = [
    Vector(
      name: "T1", zone: "Europe/Berlin", date: "2024-03-31", hours: 23, buckets: 23,
      some: ["2024-03-31T00:00:00+01:00": 60, "2024-03-31T01:00:00+01:00": 60, "2024-03-31T03:00:00+02:00": 60]),
    Vector(
      name: "T2", zone: "Europe/Berlin", date: "2024-10-27", hours: 25, buckets: 25,
      some: ["2024-10-27T02:00:00+02:00": 60, "2024-10-27T02:00:00+01:00": 60, "2024-10-27T03:00:00+01:00": 60]),
    Vector(
      name: "T3", zone: "Australia/Lord_Howe", date: "2024-10-06", hours: 23.5, buckets: 24,
      some: ["2024-10-06T01:00:00+10:30": 60, "2024-10-06T02:30:00+11:00": 30, "2024-10-06T03:00:00+11:00": 60]),
    Vector(
      name: "T4", zone: "Australia/Lord_Howe", date: "2024-04-07", hours: 24.5, buckets: 25,
      some: ["2024-04-07T01:00:00+11:00": 60, "2024-04-07T01:30:00+10:30": 30, "2024-04-07T02:00:00+10:30": 60]),
    Vector(
      name: "T5", zone: "America/Sao_Paulo", date: "2018-11-04", hours: 23, buckets: 23,
      some: ["2018-11-04T01:00:00-02:00": 60]),
    Vector(
      name: "T6", zone: "Africa/Cairo", date: "2024-04-26", hours: 23, buckets: 23,
      some: ["2024-04-26T01:00:00+03:00": 60]),
    Vector(name: "T7", zone: "Pacific/Apia", date: "2011-12-30", hours: 0, buckets: 0, some: [:]),
    Vector(
      name: "T8", zone: "Asia/Kathmandu", date: "2024-06-15", hours: 24, buckets: 24,
      some: ["2024-06-15T00:00:00+05:45": 60]),
  ]

  @Test(arguments: vectors)
  func dayAndItsHours(vector: Vector) throws {
    let zone = try ZoneRules(named: vector.zone)
    let day = zone.day(try Self.number(of: vector.date))
    #expect(Double(day.upperBound - day.lowerBound) == vector.hours * 3600)
    guard !day.isEmpty else { return }
    let hours = try CalendarBuckets(
      .hour, in: zone, Timestamp(seconds: day.lowerBound)..<Timestamp(seconds: day.upperBound))
    #expect(hours.count == vector.buckets)
    #expect(hours.range == day.lowerBound * 1_000_000..<day.upperBound * 1_000_000)
    let minutes = Dictionary(
      uniqueKeysWithValues: (0..<hours.count).map { index in
        let hour = hours[index]
        return (hour.name, Int((hour.end.seconds - hour.start.seconds) / 60))
      })
    for (name, expected) in vector.some { #expect(minutes[name] == expected, "\(name)") }
  }

  @Test func aDateThatWasLeftOutHasNoBucket() throws {
    let zone = try ZoneRules(named: "Pacific/Apia")
    let start = zone.start(ofDay: try Self.number(of: "2011-12-29"))
    let end = zone.start(ofDay: try Self.number(of: "2012-01-01"))
    let days = try CalendarBuckets(.day, in: zone, Timestamp(seconds: start)..<Timestamp(seconds: end))
    #expect((0..<days.count).map { days[$0].name } == ["2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00"])
  }

  @Test(arguments: [
    ("week", "2024-06-10", "2024-06-17"), ("month", "2024-06-01", "2024-07-01"), ("year", "2024-01-01", "2025-01-01"),
  ])
  func longerBuckets(size: String, first: String, next: String) throws {
    let zone = try ZoneRules(named: "Europe/Berlin")
    let noon = Timestamp(seconds: zone.start(ofDay: try Self.number(of: "2024-06-15")) + 43_200)
    let range = noon..<Timestamp(seconds: noon.seconds + 60)
    let size = try #require(BucketSize(rawValue: size))
    let whole = try CalendarBuckets(size, in: zone, range, cutsStart: false, cutsEnd: false)
    #expect(whole.count == 1)
    #expect(whole[0].name.hasPrefix(first) && !whole[0].isCut)
    #expect(whole[0].end.seconds == zone.start(ofDay: try Self.number(of: next)))
    let cut = try CalendarBuckets(size, in: zone, range)
    #expect(cut[0].start == range.lowerBound && cut[0].end == range.upperBound && cut[0].isCut)
  }

  @Test func weeksBeginWhereTheyAreToldTo() throws {
    let zone = ZoneRules(offset: 0, name: "UTC")
    let sunday = Timestamp(seconds: Int64(try Self.number(of: "2024-06-16")) * 86_400)
    let range = sunday..<Timestamp(seconds: sunday.seconds + 1)
    let whole = { (fromSunday: Bool) in
      try CalendarBuckets(.week, in: zone, range, cutsStart: false, cutsEnd: false, weekStartsOnSunday: fromSunday)[0]
        .name
    }
    #expect(try whole(false) == "2024-06-10T00:00:00+00:00")
    #expect(try whole(true) == "2024-06-16T00:00:00+00:00")
  }

  @Test func moreBucketsThanAnAnswerHoldsAreRefusedAtOnce() throws {
    let zone = ZoneRules(offset: 0, name: "UTC")
    let all = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
    for size in [BucketSize.hour, .day] {
      #expect(throws: CalendarBuckets.TooMany.self) { try CalendarBuckets(size, in: zone, all) }
    }
    #expect(try CalendarBuckets(.year, in: zone, all).count == 9999)
  }

  /// Days and hours of every time zone follow each other without a gap, and each instant has the date of its day.
  @Test func daysAndHoursTileTheTimeOfEveryZone() throws {
    let first = try Self.number(of: "2009-12-31")
    for name in TimeZone.knownTimeZoneIdentifiers {
      guard let zone = try? ZoneRules(named: name) else { continue }
      var previous = zone.start(ofDay: first)
      for number in first..<first + 1500 {
        let day = zone.day(number)
        #expect(day.lowerBound == previous, "\(name) \(number)")
        previous = day.upperBound
        if day.isEmpty { continue }
        #expect(zone.dayNumber(at: day.lowerBound) == number, "\(name) \(number)")
        #expect(zone.dayNumber(at: day.lowerBound - 1) < number, "\(name) \(number)")
        // A day of another length is one on which clocks were changed: its hours are looked at, too.
        guard day.count != 86_400 else { continue }
        let hours = try CalendarBuckets(
          .hour, in: zone, Timestamp(seconds: day.lowerBound)..<Timestamp(seconds: day.upperBound))
        for index in 0..<hours.count {
          let hour = hours[index]
          #expect(zone.offset(at: hour.start.seconds) == zone.offset(at: hour.end.seconds - 1), "\(name) \(hour.name)")
          #expect(hour.end.seconds - hour.start.seconds <= 3600)
        }
      }
    }
  }

  /// The computed offsets agree with Foundation's wherever the rules have been stable for long.
  @Test(arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Europe/Dublin"])
  func offsetsAreFoundations(name: String) throws {
    let zone = try ZoneRules(named: name)
    let foundation = try #require(TimeZone(identifier: name))
    for week in 0..<4_000 {
      let seconds = Int64(week) * 604_800 + 7_000
      #expect(
        zone.offset(at: seconds) == foundation.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))),
        "\(name) \(seconds)")
    }
  }

  // MARK: Files that are none

  @Test(arguments: [
    "", ".", "..", "../passwd", "/etc/passwd", "Europe/../Berlin", "Europe//Berlin", "Nowhere/Land", "a b",
  ])
  func whatIsNoZoneIsUnknown(name: String) {
    #expect(throws: ZoneError.unknown(name)) { try ZoneRules(named: name) }
  }

  @Test func everyDamageIsAnErrorOrAZone() throws {
    let file = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/Europe/Berlin")))
    for length in 0..<file.count {
      #expect(throws: ZoneError.self) { try ZoneRules(tzif: Array(file.prefix(length)), name: "cut") }
    }
    var random = SystemRandomNumberGenerator()
    for _ in 0..<3_000 {
      var damaged = file
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        damaged[Int.random(in: 0..<damaged.count, using: &random)] = .random(in: 0...255, using: &random)
      }
      guard let zone = try? ZoneRules(tzif: damaged, name: "damaged") else { continue }
      for seconds in [Int64.min, -1, 0, 1_718_445_600, .max] {
        #expect(ZoneRule.offsets.contains(zone.offset(at: seconds)))
      }
      #expect(zone.start(ofDay: 19_889) <= zone.start(ofDay: 19_890))
    }
  }

  @Test(arguments: [
    "CET-1CEST,M3.5.0,M10.5.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "IST-1GMT0,M10.5.0,M3.5.0/1",
    "EST5EDT,M3.2.0,M11.1.0", "XXX3", "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "AAA4BBB,J60,300/0",
  ])
  func rulesForTheFuture(text: String) throws {
    let rule = try ZoneRule(text.utf8)
    let changes = rule.transitions(in: 2024)
    #expect(changes.count == (rule.saving == nil ? 0 : 2))
    #expect(changes.map(\.time) == changes.map(\.time).sorted())
  }

  @Test(arguments: [
    "", "C", "CE-1", "CET", "CET-25", "CET-1CEST", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
    "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J366", "CET-1CEST,M3.5.0,M10.5.0/168", "CET-1CEST,M3.5.0,M10.5.0,",
    "CET-1CEST,M3.5.0", "<CET-1", "CET-99999999999999999999",
  ])
  func rulesThatCannotBeRead(text: String) {
    #expect(throws: ZoneError.self) { try ZoneRule(text.utf8) }
  }

  static func number(of date: String) throws -> Int {
    Int(try #require(Timestamp(iso8601: date + "T00:00:00Z")).seconds / 86_400)
  }
}

extension Bucket {
  /// The start as local time with its offset.
  var name: String {
    let clock = Timestamp(seconds: start.seconds + Int64(offset)).iso8601.dropLast()
    let (hours, minutes) = (abs(offset) / 3600, abs(offset) / 60 % 60)
    return clock + (offset < 0 ? "-" : "+") + (hours < 10 ? "0\(hours)" : "\(hours)")
      + (minutes < 10 ? ":0\(minutes)" : ":\(minutes)")
  }
}
