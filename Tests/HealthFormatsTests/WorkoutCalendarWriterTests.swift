import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

@Suite struct WorkoutCalendarWriterTests {
  private func workout(
    source: String = "Watch", from start: Timestamp = Timestamp(seconds: 1_718_447_400), seconds: Int64 = 1_800,
    _ activity: WorkoutActivityType = .value(37)
  ) -> Sample {
    Sample(
      uuid: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), type: .workout, start: start,
      end: Timestamp(microseconds: start.microseconds &+ seconds * 1_000_000), source: Source(name: source),
      payload: .workout(
        Workout(
          activityType: activity, duration: 1_750,
          totals: ["totalDistance": Quantity(5.0123, "km"), "totalEnergyBurned": Quantity(350.4, "Cal")])))
  }

  private func calendar(_ samples: [Sample]) -> String {
    let writer = WorkoutCalendarWriter()
    var bytes: [UInt8] = []
    writer.begin(into: &bytes)
    for sample in samples { _ = writer.append(sample, to: &bytes) }
    writer.end(into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func aWorkoutIsAnEvent() {
    #expect(
      calendar([workout()])
        == [
          "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//hpeer//hpeer//EN", "CALSCALE:GREGORIAN", "BEGIN:VEVENT",
          "UID:01020304-0506-0708-090A-0B0C0D0E0F10", "DTSTAMP:20240615T110000Z", "DTSTART:20240615T103000Z",
          "DTEND:20240615T110000Z", "SUMMARY:Running", #"DESCRIPTION:29 min\n5.01 km\n350 kcal\nWatch"#,
          "CATEGORIES:Workout", "TRANSP:OPAQUE", "END:VEVENT", "END:VCALENDAR", "",
        ].joined(separator: "\r\n"))
  }

  /// Exports have statistics instead of totals since iOS 16.
  @Test func statisticsSayItToo() {
    var sample = workout()
    sample.payload = .workout(
      Workout(
        activityType: .value(13),
        statistics: [
          WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierDistanceCycling"), sum: 20.5, unit: "km"),
          WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"), sum: 418.4, unit: "kJ"),
        ]))
    #expect(calendar([sample]).contains(#"DESCRIPTION:20.5 km\n100 kcal\nWatch"#))
  }

  /// The rules are in RFC 5545, sections 3.1 and 3.3.11.
  @Test func textIsEscapedAndFolded() {
    let source = "a,b;c\\d\ne\u{7}\u{0}f" + String(repeating: "é😴", count: 60)
    let text = calendar([workout(source: source)])
    let lines = text.components(separatedBy: "\r\n")
    #expect(lines.allSatisfy { $0.utf8.count <= 75 && !$0.contains("\n") && !$0.contains("\u{7}") })
    let whole = text.replacing("\r\n ", with: "")
    #expect(whole.contains(#"\na\,b\;c\\d\nef"# + String(repeating: "é😴", count: 60) + "\r\n"))
  }

  @Test func anEventNeverEndsBeforeItBegins() {
    for seconds in [0, -60] as [Int64] {
      let text = calendar([workout(seconds: seconds)])
      #expect(text.contains("DTSTART:") && !text.contains("DTEND:"))
    }
  }

  @Test func whatIsNoWorkoutIsNoEvent() {
    var maker = SampleMaker(seed: 1)
    let lost = [maker.steps(at: 0), workout(from: Timestamp(microseconds: .max), seconds: 0)]
    #expect(!calendar(lost).contains("VEVENT"))
    #expect(calendar([workout(.name("HKWorkoutActivityTypeOfTomorrow"))]).contains("SUMMARY:Of Tomorrow\r\n"))
    #expect(calendar([workout(.value(50))]).contains("SUMMARY:Traditional Strength Training\r\n"))
  }
}
