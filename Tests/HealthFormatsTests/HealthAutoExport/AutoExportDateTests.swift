import HealthModel
import Testing

@testable import HealthFormats

@Suite struct AutoExportDateTests {
  @Test(arguments: [
    ("2024-09-21 07:57:00 +1000", "2024-09-20T21:57:00Z"), ("2024-09-21 7:57:00 am +1000", "2024-09-20T21:57:00Z"),
    ("2024-09-21 7:57:00\u{202F}am +1000", "2024-09-20T21:57:00Z"),
    ("2024-09-21 7:57:00\u{A0}PM +1000", "2024-09-21T09:57:00Z"),
    ("2024-09-21 12:00:00 AM +0000", "2024-09-21T00:00:00Z"),
    ("2024-09-21 12:30:00 p.m. -0330", "2024-09-21T16:00:00Z"), ("2024-09-21T07:57:00Z", "2024-09-21T07:57:00Z"),
    ("2024-09-21T07:57:00.25Z", "2024-09-21T07:57:00.250000Z"), ("2024-09-21T07:57:00+02:00", "2024-09-21T05:57:00Z"),
    ("2026-09-07", "2026-09-07T00:00:00Z"),
  ])
  func everyWayOfPrintingOne(text: String, instant: String) throws {
    let date = try #require(AutoExportDate(text))
    #expect(date.instant.iso8601 == instant)
    #expect(date.hasOffset == (text.count > 10))
  }

  @Test(arguments: [
    "", "yesterday", "2024-09-21 13:00:00 pm +0000", "2024-09-21 0:10:00 am +0000", "2024-13-01", "2024-09-21 7",
    "2024-09-21 07:57:00 +10",
    "2024-09-21 07:57:00 +1000 x", "٢٠٢٤-٠٩-٢١",
  ])
  func whatIsNone(text: String) {
    #expect(AutoExportDate(text) == nil)
  }

  private func period(_ dates: String...) -> AggregationPeriod {
    var finder = PeriodFinder()
    finder.beginMetric()
    for text in dates { if let date = AutoExportDate(text) { finder.add(date) } }
    return finder.period
  }

  @Test func theDatesTellThePeriod() {
    #expect(period("2024-06-15 10:00:07 +0200", "2024-06-15 11:00:00 +0200") == .none)
    #expect(period("2024-06-15 10:01:00 +0200", "2024-06-15 11:00:00 +0200") == .minute)
    #expect(period("2024-06-15 10:00:00 +0200", "2024-06-15 11:00:00 +0200") == .hour)
    #expect(period("2024-06-15 00:00:00 +0200", "2024-06-15 01:00:00 +0200") == .hour)
    #expect(period("2024-06-15 00:00:00 +0200", "2024-06-16 00:00:00 +0200") == .day)
    #expect(period("2024-06-15 00:00:00 +0200") == .day)
    #expect(period("2024-06-03 00:00:00 +0200", "2024-06-10 00:00:00 +0200") == .week)
    #expect(period("2024-02-01 00:00:00 +0200", "2024-03-01 00:00:00 +0200") == .month)
    #expect(period("2023-01-01 00:00:00 +0200", "2024-01-01 00:00:00 +0200") == .year)
    // Midnight before the clocks changed, printed with the offset of after.
    #expect(period("2024-03-30 01:00:00 +0200", "2024-03-31 01:00:00 +0200", "2024-04-01 00:00:00 +0200") == .day)
    #expect(period() == .none)
  }

  @Test func aPeriodEndsWhereTheCalendarSays() throws {
    let start = try #require(AutoExportDate("2024-02-01 00:00:00 +0100")).instant
    #expect(AggregationPeriod.month.end(of: start).iso8601 == "2024-02-29T23:00:00Z")
    #expect(AggregationPeriod.year.end(of: start).seconds - start.seconds == 366 * 86_400)
    #expect(AggregationPeriod.none.end(of: start) == start)
  }
}
