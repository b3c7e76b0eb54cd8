import Foundation
import HealthModel
import Testing

@Suite struct TimestampTests {
  @Test func printsUTC() {
    #expect(Timestamp(seconds: 1_718_440_200).iso8601 == "2024-06-15T08:30:00Z")
    #expect(Timestamp(microseconds: 1_718_440_200_000_250).iso8601 == "2024-06-15T08:30:00.000250Z")
    #expect(Timestamp(seconds: 0).iso8601 == "1970-01-01T00:00:00Z")
    #expect(Timestamp(microseconds: -1).iso8601 == "1969-12-31T23:59:59.999999Z")
  }

  @Test(arguments: [
    ("2024-06-15T10:30:00+02:00", 1_718_440_200), ("2024-06-15 10:30:00 +0200", 1_718_440_200),
    ("2024-06-15T08:30Z", 1_718_440_200), ("2024-06-15T08:30:00", 1_718_440_200),
    ("2024-02-29T12:00:00Z", 1_709_208_000),
    ("9999-12-31T23:59:59Z", 253_402_300_799), ("0001-01-01", -62_135_596_800), ("1969-12-31T23:59:59Z", -1),
    ("2024-06-15T00:00:00-1130", 1_718_451_000),
  ])
  func readsISO8601(text: String, seconds: Int64) {
    #expect(Timestamp(iso8601: text) == Timestamp(seconds: seconds))
  }

  @Test func readsFractionsToTheMicrosecond() {
    #expect(Timestamp(iso8601: "1970-01-01T00:00:00.5Z")?.microseconds == 500_000)
    #expect(Timestamp(iso8601: "1970-01-01T00:00:00.1234569Z")?.microseconds == 123_456)
  }

  @Test(arguments: [
    "", "2024", "2024-13-01", "2024-02-30", "2023-02-29", "2024-00-10", "2024-06-15T24:00:00Z", "2024-06-15T10:60:00Z",
    "2024-06-15T10:30:00+25:00", "2024-06-15T10:30:00Zx", "2024-06-15T10:30:00.Z", "24-06-15", "2024-06-15T", "😴",
    "2024-06-15T10:30:00+0", "999999-01-01T00:00:00Z", "+999999-01-01T00:00:00Z",
  ])
  func refusesWhatIsNoInstant(text: String) {
    #expect(Timestamp(iso8601: text) == nil)
  }

  @Test(arguments: [
    Int64.min, .min + 1, .min + 999_999, -62_135_596_800_000_000, -1_000_001, -1_000_000, -999_999, -1, 0, 1, 999_999,
    253_402_300_800_000_000, .max - 1, .max,
  ])
  func everyInstantSurvivesItsText(microseconds: Int64) {
    let instant = Timestamp(microseconds: microseconds)
    #expect(Timestamp(iso8601: instant.iso8601) == instant)
  }

  @Test(arguments: [
    (Int64.min, Int64(-9_223_372_036_855)), (.max, 9_223_372_036_854), (-1, -1), (-1_000_000, -1), (-1_000_001, -2),
    (999_999, 0), (1_000_000, 1),
  ])
  func secondsRoundDown(microseconds: Int64, seconds: Int64) {
    #expect(Timestamp(microseconds: microseconds).seconds == seconds)
  }

  @Test func secondsBeyondTheRangeAreClamped() {
    #expect(Timestamp(seconds: .max).microseconds == .max)
    #expect(Timestamp(seconds: .min).microseconds == .min)
  }

  @Test func fieldsBeyondTheRangeAreRefused() {
    #expect(Timestamp(year: 294_247, month: 1, day: 10, hour: 4, minute: 0, second: 55) == nil)
    #expect(Timestamp(year: -290_308, month: 1, day: 1) == nil)
    #expect(Timestamp(year: 2024, month: 6, day: 15, offset: 86_400) == nil)
    #expect(Timestamp(year: 1900, month: 2, day: 29) == nil)
    #expect(Timestamp(year: 2000, month: 2, day: 29) != nil)
  }

  @Test func civilFieldsAgreeWithFoundation() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
    for seconds in stride(from: Int64(-2_000_000_000), to: 4_000_000_000, by: 86_400 * 13 + 3_661) {
      let fields = Timestamp(seconds: seconds).civil
      let expected = calendar.dateComponents(
        [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSince1970: Double(seconds)))
      #expect(fields.year == expected.year && fields.month == expected.month && fields.day == expected.day)
      #expect(fields.hour == expected.hour && fields.minute == expected.minute && fields.second == expected.second)
    }
  }
}
