import Foundation
import Testing

@testable import Destinations

struct RetryAfterTests {
  /// The current time of these tests, 1994-11-06T08:49:37Z.
  private let now = Date(timeIntervalSince1970: 784_111_777)

  @Test(
    "seconds, and dates in the three forms of HTTP",
    arguments: [
      ("0", 0), ("120", 120), (" 7 ", 7), ("007", 7), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
      ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60), ("Sun Nov 16 08:49:37 1994", 864_000),
      ("Sat, 05 Nov 1994 08:49:37 GMT", 0),
    ]) func good(_ text: String, _ seconds: Int)
  {
    #expect(RetryAfter.duration(text, now: now) == .seconds(seconds))
  }

  @Test("two digits of a year are the one that is at most fifty years ahead")
  func centuries() {
    let now = Date(timeIntervalSince1970: 1_735_689_600)
    #expect(RetryAfter.duration("Wednesday, 01-Jan-25 00:00:09 GMT", now: now) == .seconds(9))
    #expect(RetryAfter.duration("Wednesday, 01-Jan-99 00:00:00 GMT", now: now) == .zero)
    #expect(RetryAfter.duration("Wednesday, 01-Jan-75 00:00:00 GMT", now: now) == .seconds(366 * 86_400))
  }

  @Test(
    "nobody waits for more than a year",
    arguments: ["999999999999999999999999999999", "31622401", "Fri, 31 Dec 9999 23:59:59 GMT"])
  func long(_ text: String) { #expect(RetryAfter.duration(text, now: now) == .seconds(366 * 86_400)) }

  @Test(
    "what is neither says nothing",
    arguments: [
      "", " ", "-1", "+1", "1.5", "1e3", "0x10", "٣", "soon", "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37",
      "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:3Z GMT",
      "Sun, 06 Nov 01994 08:49:37 GMT", "Sun, , Nov 1994 08:49:37 GMT", "1\u{0}",
      String(repeating: "9", count: 65),
    ]) func bad(_ text: String)
  { #expect(RetryAfter.duration(text, now: now) == nil) }

  @Test("any bytes are a time or nothing")
  func random() {
    var letters = Array("SunMoFriNovJanGMT0123456789 ,:-".unicodeScalars)
    letters.append("\u{0}")
    for _ in 0..<2_000 {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0..<40) { text.append(letters[Int.random(in: 0..<letters.count)]) }
      guard let duration = RetryAfter.duration(String(text), now: now) else { continue }
      #expect((.zero ... .seconds(366 * 86_400)).contains(duration))
    }
  }
}
