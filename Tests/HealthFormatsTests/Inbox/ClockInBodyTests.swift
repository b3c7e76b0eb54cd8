import Foundation
import HealthFormats
import Testing

@Suite("The clock of a phone in a body") struct ClockInBodyTests {
  @Test(
    "the first time with an offset says it",
    arguments: [
      (#"{"date":"2026-03-28 07:00:00 +0100"}"#, 3_600), (#"{"start":"2026-03-28T07:00:00.123-03:30"}"#, -12_600),
      (#"{"a":"2026-03-28T06:00:00Z","b":"2026-07-01 08:00:00 +0530"}"#, 19_800), ("2026-03-28 07:00:00+1400", 50_400),
    ])
  func found(text: String, offset: Int) throws {
    #expect(try #require(ClockInBody(Array(text.utf8))).offset == offset)
  }

  @Test("the time is an instant")
  func instant() throws {
    let clock = try #require(ClockInBody(Array("2026-03-28 07:00:00 +0100".utf8)))
    #expect(clock.date == Date(timeIntervalSince1970: 1_774_677_600))
  }

  @Test(
    "what is no time, has no offset, or one that no place has, says nothing",
    arguments: [
      "", "2026-03-28T06:00:00Z", "2026-03-28 07:00:00", "2026-03-28 07:00:00 +9900", "2026-03-28 07:00:00 +0199",
      "2026-03-28 07:00:00 +010", "2026-99-99 07:00:00 +0100", "٢٠٢٦-٠٣-٢٨ ٠٧:٠٠:٠٠ +٠١٠٠",
      "2026-03-28 07:00:00 +01000",
    ])
  func none(text: String) {
    #expect(ClockInBody(Array(text.utf8)) == nil)
  }

  @Test("only the beginning of a body is looked at")
  func long() {
    #expect(ClockInBody(Array(repeating: UInt8(ascii: "2"), count: 10_000_000)) == nil)
    let late = String(repeating: " ", count: 70_000) + "2026-03-28 07:00:00 +0100"
    #expect(ClockInBody(Array(late.utf8)) == nil)
  }
}
