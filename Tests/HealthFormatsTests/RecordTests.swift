import Foundation
import HealthModel
import Testing

@testable import HealthFormats

@Suite struct RecordTests {
  private func only(_ record: String) throws -> Sample {
    let reading = try Reading(ExportText(record))
    #expect(reading.report.isComplete)
    return try #require(reading.samples.count == 1 ? reading.samples.first : nil)
  }

  @Test func aQuantityHasAllThatTheRecordSays() throws {
    let device =
      "&lt;&lt;HKDevice: 0x281a3c0f0&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, "
      + "software:9.4&gt;"
    let sample = try only(
      #"<Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Nam’s Apple&#160;Watch" sourceVersion="9.4""#
        + #" device="\#(device)" unit="count/min" creationDate="2024-06-15 10:00:12 +0200""#
        + #" startDate="2024-06-15 10:00:00 +0200" endDate="2024-06-15 10:00:05 +0200" value="72.5">"#
        + ExportText.metadata("HKMetadataKeyHeartRateMotionContext", "1") + "</Record>")
    #expect(sample.type.rawValue == ExportText.heartRate)
    #expect(sample.source == Source(name: "Nam\u{2019}s Apple\u{A0}Watch", version: "9.4"))
    #expect(
      sample.device
        == Device(
          name: "Apple Watch", manufacturer: "Apple Inc.", model: "Watch", hardwareVersion: "Watch6,2",
          softwareVersion: "9.4"))
    #expect(sample.start == ExportText.start)
    #expect(sample.end.seconds == ExportText.start.seconds + 5)
    #expect(sample.created?.seconds == ExportText.start.seconds + 12)
    #expect(sample.metadata == ["HKMetadataKeyHeartRateMotionContext": "1"])
    #expect(sample.payload == .quantity(Quantity(72.5, "count/min")))
    #expect(
      sample.uuid
        == SampleIdentity.uuid(
          kind: "record", type: sample.type, source: sample.source.name, start: sample.start, end: sample.end,
          created: sample.created, ordinal: 0))
  }

  @Test func categoriesAreReadByName() throws {
    let sample = try only(
      ExportText.record(ExportText.sleep, value: "HKCategoryValueSleepAnalysisAsleepREM", unit: nil))
    #expect(sample.payload == .category(CategoryValue(value: 5)))
  }

  @Test func aCategoryMayHaveNoValue() throws {
    let sample = try only(ExportText.record("HKCategoryTypeIdentifierHighHeartRateEvent", value: nil, unit: nil))
    #expect(sample.payload == .category(CategoryValue(value: nil)))
  }

  @Test func anUnknownTypeIsReadByItsValue() throws {
    #expect(
      try only(ExportText.record("HKDataTypeSleepDurationGoal", value: "8", unit: "hr")).payload
        == .quantity(Quantity(8, "hr")))
    #expect(try only(ExportText.record("Tomorrow", value: "8", unit: nil)).payload == .quantity(Quantity(8, "")))
    #expect(
      try only(ExportText.record("Tomorrow", value: "new", unit: nil)).payload
        == .category(CategoryValue(value: nil, name: "new")))
    #expect(
      try only(ExportText.record("Tomorrow", value: nil, unit: nil)).payload == .category(CategoryValue(value: nil)))
  }

  @Test func aQuantityWithoutANumberKeepsItsText() throws {
    let reading = try Reading(ExportText(ExportText.record(value: "n/a")))
    #expect(
      reading.samples.first?.payload
        == .unknown(kind: "record", content: .object(["value": .string("n/a"), "unit": .string("count/min")])))
    #expect(reading.report.remarks["quantity without a number"]?.count == 1)
    #expect(reading.recordCount == 1)
  }

  @Test func decimalCommasAreReadAndCounted() throws {
    let reading = try Reading(ExportText(ExportText.record(value: "72,5")))
    #expect(reading.samples.first?.payload == .quantity(Quantity(72.5, "count/min")))
    #expect(reading.report.remarks["decimal comma"]?.count == 1)
  }

  @Test func unknownAttributesAreKept() throws {
    let reading = try Reading(ExportText(ExportText.record(extra: #"recordCount="3" min="60""#)))
    #expect(reading.samples.first?.metadata == ["hpeer.attribute.recordCount": "3", "hpeer.attribute.min": "60"])
    #expect(reading.report.remarks["Record with an unknown attribute min"] == .init(count: 1, lines: [8]))
  }

  @Test func metadataKeysMayRepeatAndDifferByCase() throws {
    let entries = [("meal", "1"), ("Meal", "2"), ("meal", "1"), ("meal", "3"), ("meal", "4")]
    let children = entries.map { ExportText.metadata($0.0, $0.1) }.joined()
    let reading = try Reading(ExportText(ExportText.record(children: children)))
    #expect(reading.samples.first?.metadata == ["meal": "1", "Meal": "2", "meal#2": "3", "meal#3": "4"])
    #expect(reading.report.remarks["metadata key given twice"]?.count == 2)
  }

  @Test func heartBeatsAreAligned() throws {
    let beats = { (text: String) in
      "<HeartRateVariabilityMetadataList>\(text)</HeartRateVariabilityMetadataList>"
    }
    let reading = try Reading(
      ExportText(
        ExportText.record(
          children: beats(
            #"<InstantaneousBeatsPerMinute bpm="61" time="3:00:48.94 AM"/>"#
              + #"<InstantaneousBeatsPerMinute bpm="62" time="3:00:49.50 AM"/>"#)),
        ExportText.record(
          at: 1, children: beats(#"<InstantaneousBeatsPerMinute bpm="61" time="noon" new="1"/>"#))))
    #expect(
      reading.samples[0].metadata == [
        "hpeer.beatsPerMinute": "61@48.94;62@49.5", "hpeer.beatsUTCOffset": "-18000",
        "hpeer.beatsFormat": "3:00:48.94 AM",
      ])
    #expect(
      reading.samples[1].metadata == [
        "hpeer.beatsPerMinute.wallClock": "61@noon", "hpeer.attribute.InstantaneousBeatsPerMinute.new": "1",
      ])
    #expect(reading.report.remarks["heart beats at times that fit to no clock"]?.count == 1)
    #expect(reading.report.skipped.isEmpty)
  }

  @Test func aRecordWithoutAStartIsSkippedByName() throws {
    let bad = #"<Record type="x" sourceName="s" startDate="yesterday" endDate="2024-06-15 10:00:00 +0200" value="1"/>"#
    let none = #"<Record type="x" sourceName="s" value="1"/>"#
    let reading = try Reading(
      ExportText(ExportText.record(), bad, none, "<Record value=\"1\"/>", ExportText.record(at: 9)))
    #expect(reading.samples.count == 2)
    #expect(reading.report.skipped["Record with an unreadable startDate"] == .init(count: 1, lines: [9]))
    #expect(reading.report.skipped["Record without a startDate"] == .init(count: 1, lines: [10]))
    #expect(reading.report.skipped["Record without a type"] == .init(count: 1, lines: [11]))
  }

  @Test func anEndThatIsMissingOrUnreadableIsTheStart() throws {
    let missing =
      #"<Record type="HKQuantityTypeIdentifierStepCount" sourceName="s" unit="count""#
      + #" startDate="2024-06-15 10:00:00 +0200" value="1"/>"#
    #expect(try only(missing).end == ExportText.start)
    let reading = try Reading(ExportText(missing.replacing("/>", with: #" endDate="soon" creationDate="x"/>"#)))
    #expect(reading.samples.first?.end == ExportText.start)
    #expect(reading.samples.first?.created == nil)
    #expect(
      reading.samples.first?.metadata == ["hpeer.attribute.endDate": "soon", "hpeer.attribute.creationDate": "x"])
  }

  @Test func recordsOfIOS8AreRead() throws {
    let sample = try only(
      #"<Record type="HKQuantityTypeIdentifierHeartRate" source="Watch" unit="count/s" startDate="20140922134500+0200""#
        + #" endDate="20140922134510Z" value="1.2" HKMetadata Key With Spaces="1"/>"#)
    #expect(sample.source.name == "Watch")
    #expect(sample.start == Timestamp(iso8601: "2014-09-22T11:45:00Z"))
    #expect(sample.end == Timestamp(iso8601: "2014-09-22T13:45:10Z"))
    #expect(sample.metadata == ["hpeer.attribute.HKMetadata Key With Spaces": "1"])
  }
}
