import Foundation
import HealthAnalysis
import HealthModel
import Testing

@Suite("Days as people name them")
struct SpokenPeriodTests {
  private let zone: TimeZone

  init() throws { zone = try #require(TimeZone(identifier: "Europe/Berlin")) }

  private func days(_ text: String, at time: String, sunday: Bool = false) throws -> String {
    let period = try #require(SpokenPeriod(text), "\(text)")
    let now = try #require(Timestamp(iso8601: time))
    let bounds = period.bounds(in: zone, now: now, weekStartsOnSunday: sunday)
    let (start, end) = (bounds.start.start(in: zone, now: now), bounds.end.end(in: zone, now: now))
    return "\(start.date(in: zone)) \(Timestamp(microseconds: end.microseconds - 1).date(in: zone))"
  }

  /// The current day of this test is a Sunday. Only for the last cases is it late enough to be Monday in UTC.
  @Test(
    "words of the calendar mean the calendar",
    arguments: [
      ("today", "2026-11-29 2026-11-29"), ("yesterday", "2026-11-28 2026-11-28"),
      ("this week", "2026-11-23 2026-11-29"), ("last week", "2026-11-16 2026-11-22"),
      ("this month", "2026-11-01 2026-11-30"), ("last month", "2026-10-01 2026-10-31"),
      ("this year", "2026-01-01 2026-12-31"), ("last year", "2025-01-01 2025-12-31"),
      ("last night", "2026-11-29 2026-11-29"), ("last 7 days", "2026-11-23 2026-11-29"),
      ("last 2 weeks", "2026-11-16 2026-11-29"), ("Sunday", "2026-11-29 2026-11-29"),
      ("last sunday", "2026-11-22 2026-11-22"), ("monday", "2026-11-23 2026-11-23"), ("sat", "2026-11-28 2026-11-28"),
      ("nov 2026", "2026-11-01 2026-11-30"), ("February 2024", "2024-02-01 2024-02-29"),
      ("december", "2025-12-01 2025-12-31"), ("november", "2026-11-01 2026-11-30"),
      ("27.11.2026", "2026-11-27 2026-11-27"), ("1.2.2026", "2026-02-01 2026-02-01"),
      ("11/27/2026", "2026-11-27 2026-11-27"), ("27/11/2026", "2026-11-27 2026-11-27"),
      ("27 nov", "2026-11-27 2026-11-27"), ("30. november", "2025-11-30 2025-11-30"),
      ("29 feb", "2024-02-29 2024-02-29"), ("27. November 2026", "2026-11-27 2026-11-27"),
      ("nov 27, 2026", "2026-11-27 2026-11-27"), ("weekend", "2026-11-28 2026-11-29"),
      ("last weekend", "2026-11-21 2026-11-22"), ("tomorrow", "2026-11-30 2026-11-30"),
      ("5/5/2026", "2026-05-05 2026-05-05"), ("2026-11", "2026-11-01 2026-11-30"),
    ])
  func words(text: String, expected: String) throws {
    #expect(try days(text, at: "2026-11-29T12:00:00+01:00") == expected)
    #expect(try days(text.uppercased(), at: "2026-11-29T00:30:00+01:00") == expected)
  }

  @Test("weeks begin as they are said to, and days are those of the zone")
  func weeks() throws {
    #expect(try days("this week", at: "2026-11-29T12:00:00+01:00", sunday: true) == "2026-11-29 2026-12-05")
    #expect(try days("last week", at: "2026-11-28T23:30:00Z", sunday: true) == "2026-11-22 2026-11-28")
    #expect(try days("last month", at: "2026-03-01T00:30:00+01:00") == "2026-02-01 2026-02-28")
    #expect(try days("last month", at: "2026-01-31T12:00:00+01:00") == "2025-12-01 2025-12-31")
    // The clock goes forward in between.
    #expect(try days("last week", at: "2026-03-30T00:30:00+02:00") == "2026-03-23 2026-03-29")
    #expect(try days("today", at: "1969-12-31T12:00:00+01:00") == "1969-12-31 1969-12-31")
    #expect(try days("this week", at: "1969-12-31T12:00:00+01:00") == "1969-12-29 1970-01-04")
  }

  @Test(
    "what may mean two days, or none, is not read",
    arguments: [
      "11/12/2026", "32.1.2026", "31.2.2026", "13/13/2026", "may", "last", "this night", "next week", "last 0 days",
      "last 9999 days", "nov 20", "a b c", "31 nov", "0 nov", "nov 32, 2026", "", "1.2.26", "month",
    ])
  func doubtful(text: String) { #expect(SpokenPeriod(text) == nil) }

  @Test("a locale orders slashes")
  func slashes() throws {
    let now = try #require(Timestamp(iso8601: "2026-11-29T12:00:00Z"))
    let found = [SpokenPeriod.SlashOrder.day, .month].map { order in
      SpokenPeriod("11/12/2026", slashes: order)?.bounds(in: zone, now: now, weekStartsOnSunday: false).start
    }
    #expect(found == [DateBound("2026-12-11"), DateBound("2026-11-12")])
  }
}
