import HealthModel
import Testing

@testable import HealthFormats

@Suite struct BeatClockTests {
  private func clock(_ text: String, _ start: String, seconds: Int64 = 60, nearest: Int = 0) throws -> BeatClock? {
    let start = try #require(Timestamp(iso8601: start))
    return BeatClock(text, start: start, end: Timestamp(seconds: start.seconds + seconds), nearest: nearest)
  }

  /// Clock formats of real exports, each with the start that its record has.
  @Test(arguments: [
    // 24 hours, in the offset that the record prints.
    ("20:14:07.68", "2024-06-15T18:14:00Z", "7.68", 7200),
    // 12 hours, with an ordinary space and with a narrow no-break space.
    ("6:14:48.94 PM", "2024-06-15T16:14:30Z", "18.94", 7200),
    ("6:14:48.94\u{202F}PM", "2024-06-15T16:14:30Z", "18.94", 7200),
    ("12:00:01.5 AM", "2024-06-15T22:00:00Z", "1.5", 7200), ("12:00:01.5 PM", "2024-06-15T10:00:00Z", "1.5", 7200),
    // The true zone of a winter's night in a summer's export, with a decimal comma.
    ("00:20:37,80", "2022-01-31T23:20:29Z", "8.8", 3600),
    // Before the time, in other languages, with a full stop, in other digits.
    ("下午6:14:48.94", "2024-06-15T10:14:30Z", "18.94", 28800), ("오전 6:14:48", "2024-06-14T21:14:00Z", "48", 32400),
    ("20.14.07,68", "2024-06-15T17:14:00Z", "7.68", 10800), ("٢٠:١٤:٠٧", "2024-06-15T17:14:00Z", "7", 10800),
    ("PM 6:14:48.94", "2024-06-15T16:14:30Z", "18.94", 7200), ("6:14:48 p.m.", "2024-06-15T16:14:30Z", "18", 7200),
    // Zones of half and quarter hours, and the far ends.
    ("13:44:00.5", "2024-06-15T08:14:00Z", "0.5", 19800), ("13:59:00.5", "2024-06-15T08:14:00Z", "0.5", 20700),
    ("22:14:00", "2024-06-15T08:14:00Z", "0", 50400), ("20:14:00", "2024-06-15T08:14:00Z", "0", 43200),
    // A beat in the same second as the start, which is printed without its fraction.
    ("20:14:59.9", "2024-06-15T18:15:00Z", "-0.1", 7200),
  ])
  func theFirstBeatSaysTheOffset(_ time: String, _ start: String, _ seconds: String, _ offset: Int) throws {
    let clock = try #require(try clock("61@\(time)", start, nearest: offset >= 43200 ? offset : 7200))
    #expect(clock.beats == "61@\(seconds)")
    #expect(clock.offset == offset)
    #expect(clock.format == time)
  }

  /// The offset is stored in metadata, which may come from another machine.
  @Test(arguments: [Int.max, .min, 86_401, -86_401])
  func anOffsetThatNoClockHasIsNotPrinted(offset: Int) {
    #expect(BeatClock(beats: "61@1", offset: offset, format: "20:14:07").printed(start: Timestamp(seconds: 0)) == nil)
  }

  @Test func furtherBeatsFollowAtTheirDistances() throws {
    let clock = try clock("61@23:59:59.50;62.5@00:00:00.25;63@00:00:01.00;63@00:00:00.90", "2024-06-15T21:59:58Z")
    #expect(clock?.beats == "61@1.5;62.5@2.25;63@3;63@2.9")
    #expect(clock?.offset == 7200)
  }

  @Test func noonIsPassedOnAClockOfTwelveHours() throws {
    let clock = try clock("61@11:59:59 AM;62@12:00:00 PM;63@12:00:01 PM", "2024-06-15T09:59:58Z")
    #expect(clock?.beats == "61@1;62@2;63@3")
  }

  @Test func wordsThatNobodyKnowsLeaveTwoOffsetsOfWhichTheNearerIsTaken() throws {
    #expect(try clock("61@6:14:48 xx", "2024-06-15T16:14:30Z", nearest: 7200)?.offset == 7200)
    #expect(try clock("61@6:14:48 xx", "2024-06-15T16:14:30Z", nearest: -36000)?.offset == -36000)
  }

  @Test(arguments: [
    "", "61", "61@", "61@noon", "61@25:00:00", "61@20:60:00", "61@20:14", "61@20:14:07 and 3", "61@20:14:7",
    "61@20:14:07.", "61@13:14:07 xx", "61@20-14-07", "@", ";", "61@20:14:07;62@x", "61@99999999999999999999:14:07",
    // The hour jumps: no one offset shows both.
    "61@01:59:59;62@03:00:00", "61@20:14:07;62@20:44:08",
  ])
  func whatFitsToNoClockIsNone(text: String) throws {
    #expect(try clock(text, "2024-06-15T18:14:00Z") == nil)
  }

  @Test func extremeRecordsAreNone() {
    for instant in [Int64.min, .max] {
      let start = Timestamp(microseconds: instant)
      #expect(BeatClock("61@20:14:07", start: start, end: start, nearest: 0) == nil)
    }
  }

  @Test(arguments: [
    ("2024-06-15 6:14:48 PM +0200", "2024-06-15T16:14:48Z", true),
    ("2024-06-15 6:14:48\u{202F}PM +0200", "2024-06-15T16:14:48Z", true),
    ("2024-06-15 12:14:48\u{A0}a.m. -0130", "2024-06-15T01:44:48Z", true),
    ("2024-06-15 下午6:14:48 +0800", "2024-06-15T10:14:48Z", true),
    ("2024-06-15 PM 6:14:48", "2024-06-15T18:14:48Z", false),
    ("2024-06-15\u{202F}18:14:48\u{202F}+02:00", "2024-06-15T16:14:48Z", true),
    ("٢٠٢٤-٠٦-١٥ ١٨:١٤:٤٨ +٠٢٠٠", "2024-06-15T16:14:48Z", true),
  ])
  func datesOfALocaleAreRead(text: String, expected: String, hasOffset: Bool) {
    var reader = DateReader()
    let reading = reader.read(text)
    #expect(reading?.date == Timestamp(iso8601: expected))
    #expect(reading?.hasOffset == hasOffset)
  }

  @Test(arguments: [
    "2024-06-15 13:14:48 xx +0200", "2024-06-15 6:14:48 xx", "2024-06-31 6:14:48 PM", "2024-06-15 6:14 PM",
    "15-06-2024 6:14:48 PM", "2024-06-15 PM", "2024-06-15 6:14:48 PM +2500",
  ])
  func datesThatSayTooLittleAreNone(text: String) {
    var reader = DateReader()
    #expect(reader.read(text) == nil)
  }

  @Test func twelveHoursAndMissingOffsetsAreRemarked() throws {
    let record = { (date: String) in
      #"<Record type="HKQuantityTypeIdentifierStepCount" unit="count" value="1,5" sourceName="s" startDate="\#(date)"/>"#
    }
    let reading = try Reading(
      ExportText(record("2024-06-15 6:14:48\u{202F}PM +0200"), record("2024-06-15 18:14:49")))
    #expect(reading.samples.map(\.start.iso8601) == ["2024-06-15T16:14:48Z", "2024-06-15T18:14:49Z"])
    #expect(reading.report.remarks["date of a 12-hour clock"]?.count == 1)
    #expect(reading.report.remarks["date without an offset"]?.count == 1)
    #expect(reading.report.remarks["decimal comma"]?.count == 2)
  }
}
