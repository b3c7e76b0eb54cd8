import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// Tests of defects found in real exports, and of malicious content.
@Suite struct DefectTests {
  @Test func aBillionLaughsAreNone() throws {
    var text = ExportText(ExportText.record(source: "&lol9;"), ExportText.record(at: 1))
    text.header =
      "<!DOCTYPE HealthData [<!ENTITY lol \"lol\">"
      + (1...9).map { "<!ENTITY lol\($0) \"\(String(repeating: "&lol\($0 - 1);", count: 10))\">" }.joined() + "]>\n"
    let reading = try Reading(text.text)
    #expect(reading.samples.map(\.source.name) == ["&lol9;", "Watch"])
    #expect(reading.report.remarks["unknown entity"] == .init(count: 1, lines: [4]))
  }

  /// A forged size or a missing quote must not fill the memory.
  @Test func anAttributeOf100MegabytesIsRefusedWhereItIs() throws {
    let head = Array(ExportText().text.replacing("</HealthData>\n", with: " <Record type=\"").utf8)
    for chunkSize in [1 << 16, 512 << 10] {
      let source = LongSource(head: head, byte: UInt8(ascii: "x"), count: 100 << 20)
      let error = #expect(throws: ImportError.self) {
        _ = try SurveyPass(source: source, chunkSize: chunkSize, totalBytes: 100 << 20).run { _ in }
      }
      let start = Int64(head.count - "<Record type=\"".utf8.count)
      #expect(error == .tooLarge(what: "an element", at: TextPosition(line: 8, column: 2, offset: start)))
      #expect(source.given < 10 << 20)
    }
  }

  /// A sample that no other machine accepts would keep other machines from everything after it.
  @Test func whatCouldNotTravelIsLeftOut() throws {
    let long = String(repeating: "a", count: 5 << 20)
    let nest = String(repeating: "<a>", count: 95) + String(repeating: "</a>", count: 95)
    let event = #"<WorkoutEvent type="HKWorkoutEventTypePause" date="\#(ExportText.date(9))"/>"#
    let common = #"sourceName="Watch" startDate="\#(ExportText.date(9))" endDate="\#(ExportText.date(9))""#
    let reading = try Reading(
      ExportText(
        ExportText.record(at: 1), "<Thing \(common)>\(nest)</Thing>", ExportText.record(at: 2, source: long),
        ExportText.record(at: 3, children: ExportText.metadata("a", long)),
        #"<Workout workoutActivityType="HKWorkoutActivityTypeRunning" \#(common)>"#
          + String(repeating: event, count: 50_001) + "</Workout>",
        #"<Correlation type="HKCorrelationTypeIdentifierFood" \#(common)>"#
          + ExportText.metadata("a", long) + ExportText.record(at: 4) + "</Correlation>",
        ExportText.record(at: 5)))
    #expect(Set(reading.samples.map(\.start.seconds)) == Set([1, 4, 5].map { ExportText.start.seconds + $0 }))
    #expect(reading.samples.count == 3)
    #expect(reading.report.skipped.values.reduce(0) { $0 + $1.count } == 5)
    #expect(reading.report.skipped.keys.allSatisfy { $0.hasSuffix(Sample.tooLarge) })
    #expect(reading.report.isComplete)
  }

  @Test func emptyAttributesAreKeptAsTheyAre() throws {
    let date = ExportText.date(0)
    let reading = try Reading(
      ExportText(
        #"<Record type="" sourceName="" sourceVersion="" device="" unit="" creationDate="" startDate="\#(date)""#
          + #" endDate="" value=""/>"#,
        ExportText.record(at: 1, children: ExportText.metadata("", ""))))
    #expect(reading.samples.count == 2)
    let sample = try #require(reading.samples.first)
    #expect(sample.type.rawValue == "")
    #expect(sample.source == Source(name: "", version: ""))
    #expect(sample.device == nil)
    #expect(sample.end == sample.start)
    #expect(reading.samples.last?.metadata == ["": ""])
    #expect(reading.report.remarks["Record with an unreadable endDate"]?.count == 1)
    #expect(reading.report.isComplete)
  }

  @Test func datesWithCharacterReferencesAreRead() throws {
    let elements = [
      ExportText.record(), #"<Audiogram sourceName="Clinic" startDate="\#(ExportText.date(9))"/>"#,
      #"<VisionPrescription dateIssued="\#(ExportText.date(5))"/>"#,
    ]
    let plain = try Reading(ExportText(elements))
    let written = try Reading(ExportText(elements.map { $0.replacing("+0200", with: "&#43;0200") }))
    #expect(plain.samples.count == 3)
    #expect(written.uuids == plain.uuids)
    #expect(written.report.skipped.isEmpty)
  }

  @Test func missingEndTagsAndControlCharactersCostNothingElse() throws {
    let bad = ExportText.record(at: 1, children: ExportText.metadata("k", "a\u{B}b")).replacing("</Record>", with: "")
    let reading = try Reading(ExportText(ExportText.record(), bad, ExportText.record(at: 2)))
    #expect(reading.samples.map(\.metadata) == [[:], ["k": "ab"], [:]])
    #expect(reading.report.remarks["control character"] == .init(count: 1, lines: [9]))
    #expect(reading.report.remarks["Record before the end of another element"]?.count == 1)
  }

  @Test func theBrokenDocumentTypeOfIOS16IsPassedOver() throws {
    var text = ExportText(ExportText.record())
    // As iOS 16.0 wrote it: declarations without an end, and one of an element that is declared nowhere.
    text.header = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE HealthData [
      <!-- HealthKit Export Version: 12 -->
      <!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout|ActivitySummary|ClinicalRecord)*)>
      <!ATTLIST HealthData
        locale CDATA #REQUIRED
      <!ELEMENT WorkoutEvent EMPTY>
      <!ATTLIST WorkoutStatistics
        type CDATA #REQUIRED
        startDate CDATA #REQUIRED
      >>
      <!ATTLIST VisionPrescription type CDATA #REQUIRED dateIssued CDATA #REQUIRED
      ]>

      """
    let reading = try Reading(text.text)
    #expect(reading.samples.count == 1)
    #expect(reading.report.version == 12)
    #expect(reading.report.isComplete)
    #expect(reading.report.skipped.isEmpty)
  }
}

/// A source of some bytes followed by a repeated byte.
private final class LongSource: ByteSource {
  private let head: [UInt8]
  private let byte: UInt8
  private let count: Int
  private(set) var given = 0

  init(head: [UInt8], byte: UInt8, count: Int) {
    (self.head, self.byte, self.count) = (head, byte, count)
  }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count wanted: Int) -> Int {
    let length = max(0, min(wanted, count - given))
    for index in 0..<length { buffer[index] = given + index < head.count ? head[given + index] : byte }
    given += length
    return length
  }

  func close() {}
}
