import Foundation
import Testing

@testable import HealthModel

@Suite struct LocalTimeTests {
  /// The current time of these tests, 2024-03-31T01:30:00Z: clocks in Berlin have just been set forward.
  private let now = Timestamp(seconds: 1_711_848_600)

  private func zone(_ name: String) throws -> TimeZone { try #require(TimeZone(identifier: name)) }

  private func bound(_ text: String) throws -> DateBound { try #require(DateBound(text)) }

  /// Returns the start and end of the period that `text` names, in UTC.
  private func range(_ text: String, _ name: String) throws -> [String] {
    let (bound, zone) = (try bound(text), try zone(name))
    return [bound.start(in: zone, now: now).iso8601, bound.end(in: zone, now: now).iso8601]
  }

  // MARK: Reading

  @Test(
    "no zone means the zone of the question",
    arguments: [
      ("2019-01-05", "2019-01-04T23:00:00Z", "2019-01-05T23:00:00Z"),
      ("2019-07-05", "2019-07-04T22:00:00Z", "2019-07-05T22:00:00Z"),
      ("2019-01-05T10:00", "2019-01-05T09:00:00Z", "2019-01-05T09:00:00Z"),
      ("2019-07-05 10:00:30", "2019-07-05T08:00:30Z", "2019-07-05T08:00:30Z"),
      ("2019-07-05T10:00:30.000250", "2019-07-05T08:00:30.000250Z", "2019-07-05T08:00:30.000250Z"),
      ("2019-01-05T10:00Z", "2019-01-05T10:00:00Z", "2019-01-05T10:00:00Z"),
      ("2019-01-05T10:00:00.5-03:30", "2019-01-05T13:30:00.500000Z", "2019-01-05T13:30:00.500000Z"),
    ])
  func reading(_ text: String, _ start: String, _ end: String) throws {
    #expect(try range(text, "Europe/Berlin") == [start, end])
  }

  @Test(
    "days of 23, 24, 25, 23.5 and 0 hours end where the next begins",
    arguments: [
      ("2024-03-31", "Europe/Berlin", 23.0), ("2024-06-15", "Europe/Berlin", 24), ("2024-10-27", "Europe/Berlin", 25),
      ("2024-10-06", "Australia/Lord_Howe", 23.5), ("2024-04-07", "Australia/Lord_Howe", 24.5),
      ("2011-12-30", "Pacific/Apia", 0), ("2011-12-29", "Pacific/Apia", 24), ("2011-12-31", "Pacific/Apia", 24),
      // Clocks are put forward at midnight, and back over it.
      ("2018-11-04", "America/Sao_Paulo", 23), ("2018-02-17", "America/Sao_Paulo", 25),
      ("2024-11-03", "America/Havana", 25), ("2024-03-10", "America/Havana", 23),
    ])
  func days(_ text: String, _ name: String, _ hours: Double) throws {
    let (bound, zone) = (try bound(text), try zone(name))
    let length = bound.end(in: zone, now: now).microseconds - bound.start(in: zone, now: now).microseconds
    #expect(Double(length) / 3_600_000_000 == hours)
    guard case .day(let day) = bound else { return }
    #expect(DateBound.day(day.advanced(byDays: 1)).start(in: zone, now: now) == bound.end(in: zone, now: now))
  }

  @Test(
    "days, months and years by their names, and by how long ago they were",
    arguments: [
      ("today", "2024-03-30T23:00:00Z", "2024-03-31T22:00:00Z"),
      ("Yesterday", "2024-03-29T23:00:00Z", "2024-03-30T23:00:00Z"),
      ("7d", "2024-03-23T23:00:00Z", "2024-03-24T23:00:00Z"),
      ("3 weeks ago", "2024-03-09T23:00:00Z", "2024-03-10T23:00:00Z"),
      // No 31st in February, nor a 29th of it in 2023.
      ("1 month ago", "2024-02-28T23:00:00Z", "2024-02-29T23:00:00Z"),
      ("13 months", "2023-02-27T23:00:00Z", "2023-02-28T23:00:00Z"),
      ("10y", "2014-03-30T22:00:00Z", "2014-03-31T22:00:00Z"),
      ("2024-01", "2023-12-31T23:00:00Z", "2024-01-31T23:00:00Z"),
      ("2023-12", "2023-11-30T23:00:00Z", "2023-12-31T23:00:00Z"),
      ("2024", "2023-12-31T23:00:00Z", "2024-12-31T23:00:00Z"),
    ])
  func words(_ text: String, _ start: String, _ end: String) throws {
    #expect(try range(text, "Europe/Berlin") == [start, end])
    #expect(try bound(text).isWholeDays)
  }

  @Test("a time that no clock shows is when they are put forward, from and to")
  func gap() throws {
    for text in ["2024-03-31T02:00", "2024-03-31T02:30", "2024-03-31T02:59:59.9", "2024-03-31T03:00"] {
      #expect(try range(text, "Europe/Berlin") == ["2024-03-31T01:00:00Z", "2024-03-31T01:00:00Z"], "\(text)")
    }
    #expect(try bound("2024-03-31T02:30").doubt(in: zone("Europe/Berlin")).isEmpty)
    #expect(try range("2011-12-30T17:00", "Pacific/Apia") == ["2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"])
  }

  @Test("a time that clocks show twice: all of it from the first, up to the second")
  func overlap() throws {
    let berlin = try zone("Europe/Berlin")
    #expect(try range("2024-10-27T02:30", "Europe/Berlin") == ["2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z"])
    #expect(
      try bound("2024-10-27T02:30").doubt(in: berlin).map { $0.iso8601(in: berlin) }
        == ["2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00"])
    // The hour ends when it is over for good.
    #expect(try range("2024-10-27T03:00", "Europe/Berlin") == ["2024-10-27T02:00:00Z", "2024-10-27T02:00:00Z"])
    for text in ["2024-10-27T02:30+01:00", "2024-10-27", "2024-10-27T01:59:59", "2024-10-27T03:00"] {
      #expect(try bound(text).doubt(in: berlin).isEmpty, "\(text)")
    }
  }

  @Test(
    "what is no date is refused",
    arguments: [
      "", "202", "2024-13", "2024-02-30", "2024-06-15T", "2024-06-15T25:00", "2024-06-15T10:00 Europe/Berlin",
      "2024-06-15Z", "999999-01-01", "ago", "d", "-1d", "1.5d", "7m", "7 minutes ago", "1001d",
      "99999999999999999999d", "٧d",
    ])
  func nonsense(_ text: String) { #expect(DateBound(text) == nil) }

  @Test("the ends of time", arguments: ["Europe/Berlin", "America/New_York", "Pacific/Apia"])
  func ends(_ name: String) throws {
    let zone = try zone(name)
    for instant in [Int64.min, .min + 1, .max - 1, .max].map(Timestamp.init(microseconds:)) {
      #expect(Timestamp(iso8601: instant.iso8601(in: zone)) == instant)
      #expect(!instant.date(in: zone).isEmpty)
      let bound = try bound(String(instant.iso8601.dropLast()))
      #expect(bound.start(in: zone, now: now) <= bound.end(in: zone, now: now))
    }
  }

  // MARK: Printing

  @Test(
    "an instant is printed as a clock there shows it, with its offset",
    arguments: [
      ("2024-06-15T08:30:00Z", "Europe/Berlin", "2024-06-15T10:30:00+02:00"),
      ("2024-01-15T08:30:00Z", "Europe/London", "2024-01-15T08:30:00+00:00"),
      ("2024-01-15T23:30:00.000250Z", "Asia/Kolkata", "2024-01-16T05:00:00.000250+05:30"),
      ("2024-01-15T01:30:00Z", "America/St_Johns", "2024-01-14T22:00:00-03:30"),
      ("2024-01-15T01:30:00Z", "UTC", "2024-01-15T01:30:00Z"),
    ])
  func printing(_ instant: String, _ name: String, _ text: String) throws {
    let instant = try #require(Timestamp(iso8601: instant))
    #expect(instant.iso8601(in: try zone(name)) == text)
    #expect(try bound(text).start(in: zone("Pacific/Apia"), now: now) == instant)
    #expect(instant.date(in: try zone(name)) == text.prefix(10))
  }

  @Test("what is printed names the same instant in every zone and year, also where offsets had seconds")
  func printedAndRead() throws {
    var random = SystemRandomNumberGenerator()
    for name in ["Europe/Amsterdam", "Africa/Monrovia", "Asia/Manila", "America/New_York", "Pacific/Apia"] {
      let zone = try zone(name)
      for _ in 0..<300 {
        let instant = Timestamp(
          microseconds: .random(in: -4_000_000_000_000_000...4_000_000_000_000_000, using: &random))
        #expect(Timestamp(iso8601: instant.iso8601(in: zone)) == instant, "\(name) \(instant)")
      }
    }
  }

  @Test("of every time on a clock: the instants are those at which it is shown, and no others")
  func instants() throws {
    for name in ["Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca", "America/Goose_Bay", "Pacific/Apia"] {
      let zone = try zone(name)
      for start in ["2011-12-29T12:00Z", "2009-03-08T00:00Z", "2009-11-01T00:00Z", "2024-03-10T00:00Z"] {
        let start = try #require(Timestamp(iso8601: start))
        // Every instant of three days, quarter-hour by quarter-hour, by what is shown then.
        var shown: [CivilTime: [Timestamp]] = [:]
        for step in 0..<3 * 96 {
          let instant = start.advanced(bySeconds: step * 900)
          shown[CivilTime(inUTC: instant.advanced(bySeconds: zone.offset(at: instant))), default: []].append(instant)
        }
        for (time, instants) in shown {
          let found = zone.instants(of: time)
          #expect(instants.allSatisfy(found.contains), "\(name) \(time)")
          #expect(found.allSatisfy { $0.advanced(bySeconds: zone.offset(at: $0)) == time.inUTC })
          #expect(zone.first(of: time) <= zone.last(of: time))
        }
      }
    }
  }
}
