import Foundation
import HealthModel
import Testing

@testable import HealthFormats

@Suite struct LenientXMLTests {
  @Test(arguments: [
    "<!DOCTYPE HealthData [\n<!ATTLIST HealthData locale CDATA #REQUIRED\n<!ELEMENT Me EMPTY>\n]>\n",
    "<!DOCTYPE HealthData [\n<!ELEMENT Me EMPTY>>\n>]>\n",
    "<!DOCTYPE HealthData [\n<!-- <HealthData locale=\"no\"> -->\n]>",
    "<!DOCTYPE HealthData [\n<!ENTITY a \"&b;&b;\"><!ENTITY x SYSTEM \"file:///etc/passwd\">\n]>", "", "\u{FEFF}",
    "<?xml version=\"1.0\"?><!-- - -- --><!-->x-->",
    "<!DOCTYPE HealthData [<!ELEMENT HealthDataset ANY>]><HealthDatum/>",
  ])
  func theHeaderDoesNotMatter(header: String) throws {
    var text = ExportText(ExportText.record())
    text.header = header
    for chunkSize in [1, 2, 3, 7, 4096] {
      let reading = try Reading(text.text, chunkSize: chunkSize)
      #expect(reading.samples.count == 1)
      #expect(reading.report.locale == "en_DE")
      #expect(reading.report.isComplete)
    }
  }

  @Test func entitiesOfTheHeaderAreNotExpanded() throws {
    var text = ExportText(ExportText.record(source: "&lol;&amp;&#x1F634;&#55296;&#0;& &amp"))
    text.header = "<!DOCTYPE HealthData [<!ENTITY lol \"ha\"><!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
    let reading = try Reading(text.text)
    #expect(reading.samples.first?.source.name == "&lol;&😴\u{FFFD}& &amp")
    #expect(reading.report.remarks["unknown entity"]?.count == 1)
    #expect(reading.report.remarks["control character"]?.count == 1)
    #expect(reading.report.remarks["invalid UTF-8"]?.count == 1)
  }

  @Test func badCharactersAreRepairedAndCounted() throws {
    var bytes = Array(ExportText(ExportText.record(source: "a#b"), ExportText.record(at: 1, source: "c$d")).text.utf8)
    for index in bytes.indices {
      if bytes[index] == UInt8(ascii: "#") { bytes[index] = 0x0B }
      if bytes[index] == UInt8(ascii: "$") { bytes[index] = 0xFF }
    }
    let reading = try Reading(bytes: bytes)
    #expect(reading.samples.map(\.source.name) == ["ab", "c\u{FFFD}d"])
    #expect(reading.report.remarks["control character"] == .init(count: 1, lines: [8]))
    #expect(reading.report.remarks["invalid UTF-8"] == .init(count: 1, lines: [9]))
  }

  @Test func quotesMayBeEitherAndValuesMayHoldAngleBrackets() throws {
    let record = ExportText.record(source: "a > b < c 'd'").replacing(#"unit="count/min""#, with: "unit = 'count/min'")
    let reading = try Reading(ExportText(record))
    #expect(reading.samples.first?.source.name == "a > b < c 'd'")
    #expect(reading.samples.first?.payload == .quantity(Quantity(72, "count/min")))
  }

  @Test func ofTwoAttributesTheFirstCounts() throws {
    let reading = try Reading(ExportText(ExportText.record(extra: #"value="99""#)))
    #expect(reading.samples.first?.payload == .quantity(Quantity(72, "count/min")))
    #expect(reading.report.remarks["attribute given twice"]?.count == 1)
  }

  @Test(arguments: [
    #"<Record type="x" value="72 startDate="2024-06-15 10:00:00 +0200"/>"#, "<Record type=x/>", "<Record type=\"x\" <",
    "< Record type=\"x\"/>", "<Record type=\"x\"\"y\"/>", "<Record / type=\"x\"/>",
  ])
  func aBrokenTagCostsOnlyItself(broken: String) throws {
    let reading = try Reading(ExportText(ExportText.record(at: 1), broken, ExportText.record(at: 2)))
    #expect(reading.samples.count == 2)
    #expect(reading.report.skipped["malformed tag"]?.lines.first == 9)
    #expect(reading.report.isComplete)
  }

  @Test func lostClosingTagsAreBridged() throws {
    let open = ExportText.record(at: 1, children: ExportText.metadata("k", "v")).replacing("</Record>", with: "")
    let reading = try Reading(
      ExportText(open, ExportText.record(at: 2), "</Workout>", open, #"<ActivitySummary dateComponents="2024-01-01"/>"#)
    )
    #expect(reading.samples.count == 3)
    #expect(reading.readings.count == 1)
    #expect(reading.report.remarks["Record before the end of another element"]?.count == 1)
    #expect(reading.report.remarks["closing tag without an opening one"]?.count == 1)
    #expect(reading.report.isComplete)
  }

  @Test func textAndCDATAAndCommentsBetweenElementsArePassedOver() throws {
    let reading = try Reading(
      ExportText("stray", "<!-- <Record/> -->", "<![CDATA[<Record/>]]>", "<?pi <Record/> ?>", ExportText.record()))
    #expect(reading.samples.count == 1)
    #expect(reading.report.skipped == ["text between elements": .init(count: 2, lines: [8, 10])])
  }

  @Test func whatFollowsTheRootIsCounted() throws {
    let reading = try Reading(ExportText(ExportText.record()).text + "<Record type=\"x\"/>")
    #expect(reading.samples.count == 1)
    #expect(reading.report.skipped["Record after the end of HealthData"]?.count == 1)
    #expect(reading.report.isComplete)
  }

  @Test func aTagWithoutEndIsRefused() throws {
    let text = ExportText("<Record type=\"" + String(repeating: "x", count: 9 << 20)).text
    let start = try #require(text.range(of: "<Record type")).lowerBound
    let position = TextPosition(line: 8, column: 2, offset: Int64(text.utf8.distance(from: text.startIndex, to: start)))
    #expect(throws: ImportError.tooLarge(what: "an element", at: position)) { try Reading(text, chunkSize: 1 << 20) }
  }

  @Test func elementsNestedWithoutEndAreRefused() {
    #expect(throws: ImportError.self) { try Reading(ExportText(String(repeating: "<a>", count: 5000))) }
  }

  @Test func aFileWithoutARootIsNoExport() {
    #expect(throws: ImportError.self) { try Reading("<?xml version=\"1.0\"?><!-- <HealthData> --><other/>") }
  }

  @Test func tagsAcrossChunksAreWhole() throws {
    let text = StandardExport.text
    let whole = try Reading(text)
    #expect(whole.samples.count > 20)
    for chunkSize in [1, 2, 3, 7, 64, 4096] {
      let reading = try Reading(text, chunkSize: chunkSize)
      #expect(reading.samples == whole.samples)
      #expect(reading.readings == whole.readings)
      #expect(reading.report == whole.report)
    }
  }

  @Test(arguments: [1, 7, 64, 4096])
  func aFindingIsWhereItBegan(chunkSize: Int) throws {
    let stray = "stray\n" + String(repeating: "text\n", count: 50)
    let reading = try Reading(
      ExportText(stray, ExportText.record(), "<![CDATA[\(stray)]]>", "<!ENTITY \(stray)>"), chunkSize: chunkSize)
    #expect(reading.report.skipped["text between elements"] == .init(count: 2, lines: [8, 61]))
    #expect(reading.report.skipped["malformed tag"] == .init(count: 1, lines: [113]))
  }

  @Test func batchesAreNeverLargerThanAsked() throws {
    let records = (0..<57).map { ExportText.record(at: $0 / 2) }
    let reading = try Reading(ExportText(records).text, batchSize: 10)
    #expect(reading.batches.allSatisfy { $0 <= 10 })
    #expect(reading.samples.count == 57)
  }

  @Test func progressGrowsToTheWholeWork() throws {
    let export = AppleHealthExport(Array(StandardExport.text.utf8))
    var seen: [Int64] = []
    let survey = try export.survey(chunkSize: 1000, progress: { seen.append($0) })
    #expect(seen.last == export.totalBytes)
    _ = try export.read(survey, batchSize: 10, chunkSize: 1000, progress: { seen.append($0) }, deliver: { _ in })
    #expect(seen == seen.sorted())
    #expect(seen.last == export.workBytes)
  }

  @Test func whoeverTakesTheSamplesMayStop() throws {
    struct Stop: Error {}
    let export = AppleHealthExport(Array(StandardExport.text.utf8))
    let survey = try export.survey()
    #expect(throws: Stop.self) { try export.read(survey, batchSize: 1) { _ in throw Stop() } }
    #expect(throws: Stop.self) { try export.read(survey, progress: { _ in throw Stop() }, deliver: { _ in }) }
    #expect(throws: Stop.self) { try export.survey { _ in throw Stop() } }
  }
}

/// An export with every kind of element.
enum StandardExport {
  static var text: String { ExportText(elements()).text }

  /// - Parameters:
  ///   - offset: The UTC offset of printed dates, in hours.
  ///   - imperial: Whether distances are printed in miles.
  static func elements(offset: Int = 2, address: String = "0x1", imperial: Bool = false) -> [String] {
    let device = "&lt;&lt;HKDevice: \(address)&gt;, name:Apple Watch, hardware:Watch6,2&gt;"
    func date(_ second: Int) -> String { ExportText.date(second, offset: offset) }
    var elements = [#"<Me HKCharacteristicTypeIdentifierBloodType="HKBloodTypeABPositive"/>"#]
    for second in 0..<12 {
      elements.append(
        ExportText.record(
          at: second * 60, value: "\(60 + second)", source: "Robin’s&#160;Watch", device: device, offset: offset,
          children: second % 3 == 0 ? ExportText.metadata("HKMetadataKeyHeartRateMotionContext", "\(second % 2)") : ""))
    }
    for index in 0..<6 {
      let kilometres = Double(index + 1) * 0.31
      elements.append(
        ExportText.record(
          ExportText.distance, at: index * 10,
          value: String(format: "%g", imperial ? kilometres / 1.609344 : kilometres), unit: imperial ? "mi" : "km",
          offset: offset))
    }
    // Three that differ in their values only, and two that do not differ at all.
    for kilometres in [0.5, 1.25, 0.75, 2, 2] {
      elements.append(
        ExportText.record(
          ExportText.distance, at: 5000,
          value: String(format: "%g", imperial ? kilometres / 1.609344 : kilometres), unit: imperial ? "mi" : "km",
          offset: offset))
    }
    elements.append(
      ExportText.record(ExportText.sleep, at: 7, value: "HKCategoryValueSleepAnalysisInBed", unit: nil, offset: offset))
    for (index, value) in ["120", "80"].enumerated() {
      elements.append(pressure(index, at: 300, value: value, offset: offset))
    }
    elements.append(
      #"<Correlation type="HKCorrelationTypeIdentifierBloodPressure" sourceName="Cuff &amp; Co""#
        + #" creationDate="\#(date(301))""#
        + #" startDate="\#(date(300))" endDate="\#(date(300))">\#(ExportText.metadata("k", "v"))"#
        + pressure(0, at: 300, value: "120", offset: offset) + pressure(1, at: 300, value: "80", offset: offset)
        + "</Correlation>")
    elements.append(
      #"<Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30" durationUnit="min""#
        + #" sourceName="Watch" device="\#(device)" startDate="\#(date(0))" endDate="\#(date(1800))">"#
        + #"<WorkoutEvent type="e" date="\#(date(5))"/>"#
        + "</Workout>")
    elements.append(
      #"<ClinicalRecord type="t" identifier="i" sourceName="Clinic" receivedDate="\#(date(0))"/>"#)
    elements.append(#"<ActivitySummary dateComponents="2024-06-15" activeEnergyBurned="300"/>"#)
    return elements
  }

  static func pressure(_ kind: Int, at second: Int, value: String, offset: Int = 2) -> String {
    ExportText.record(
      "HKQuantityTypeIdentifierBloodPressure" + (kind == 0 ? "Systolic" : "Diastolic"), at: second, value: value,
      unit: "mmHg", source: "Cuff &amp; Co", offset: offset)
  }
}
