import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// Tests that everything in the document type, and unknown content, is kept when an export is read and written.
@Suite struct LosslessExportTests {
  /// Checks the example, because otherwise the test below would prove less than its name says.
  @Test func theExampleHasEveryAttributeOfTheDocumentType() {
    let attributes = AppleXML(EverythingExport.text).attributeNames
    var element = ""
    var count = 0
    for line in AppleDocumentType.text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.first == "<!ATTLIST" { element = String(words[1]) }
      guard words.count == 3, words[1] == "CDATA" else { continue }
      count += 1
      #expect(attributes.contains("\(element)/@\(words[0])"))
    }
    #expect(count > 100)
  }

  @Test(arguments: [0, 20_700, -12_600])
  func nothingIsMissing(offset: Int) throws {
    let reading = try Reading(EverythingExport.text)
    #expect(reading.report.skipped.isEmpty)
    let written = RewrittenExport(reading, offset: offset)
    #expect(written.omitted == 0)
    let (before, after) = (AppleXML(EverythingExport.text).elements(), AppleXML(written.text).elements())
    #expect(missing(before, from: after) == [])
    #expect(missing(after, from: before) == [])
    #expect(!written.text.contains("hpeer."))
  }

  @Test func theRootAndTheDateKeepWhatNobodyKnows() throws {
    let text =
      #"<HealthData locale="en" later="1"><ExportDate value="2024-07-03 09:46:40 +0000" later="2">"#
      + EverythingExport.unknown("InDate") + "</ExportDate></HealthData>"
    let written = AppleXML(RewrittenExport(try Reading(text)).text).root
    let read = AppleXML(text).root
    #expect(written.attributes == read.attributes)
    #expect(written.children.first.map { Canonical.text($0) } == read.children.first.map { Canonical.text($0) })
  }

  /// Eleven elements, because as text the eleventh sorts before the second.
  @Test func elementsOfThePersonStayInTheirOrder() throws {
    let elements = (1...11).map { "<Future n=\"\($0)\"/>" }.joined()
    let text = ExportText(
      ExportText.record(children: #"<MetadataEntry key="k" value="v"><Inner/></MetadataEntry>"#), "<Me>\(elements)</Me>"
    ).text
    let reading = try Reading(text)
    let again = try Reading(RewrittenExport(reading).text)
    let values = { (reading: Reading) in
      Dictionary(uniqueKeysWithValues: reading.readings.map { ($0.type, $0.payload) })
    }
    #expect(values(reading).count == 11)
    #expect(values(again) == values(reading))
    #expect(!"\(values(reading))".contains("MetadataEntry"))
  }

  @Test func whatIsWrittenIsReadAsTheSameSamples() throws {
    let reading = try Reading(EverythingExport.text)
    let again = try Reading(RewrittenExport(reading, offset: 3600).text)
    #expect(again.uuids == reading.uuids)
    for sample in again.samples where sample.type != .workout {
      #expect(reading.samples.contains(sample), "\(sample)")
    }
  }

  /// Clock formats of real exports, each in the form of its locale.
  @Test(arguments: [
    ["20:00:01.68", "20:00:02.10"], ["00:59:59,50", "01:00:00,25"], ["9:59:59.9", "10:00:00.1"],
    ["8:00:01.68 PM", "8:00:02.10 PM"], ["8:00:01.68\u{202F}PM", "8:00:02.10\u{202F}PM"],
    ["11:59:59.50\u{202F}AM", "12:00:00.25\u{202F}PM"], ["11:59:59.50 p.m.", "12:00:00.25 a.m."],
    ["下午8:00:01.68", "下午8:00:02.10"], ["오전 11:59:59.5", "오후 12:00:00.5"], ["20.00.01,68", "20.00.02,10"],
    ["٢٠:٠٠:٠١", "٢٠:٠٠:٠٢"], ["08:00:01.68 PM", "08:00:02.10 PM"], ["20:00:01.6", "20:00:02.15"],
    ["20:00:01.68", "20:00:02"], ["noon", "later"], ["20:00:01", ""],
  ])
  func beatsAreToldAsTheyWere(times: [String]) throws {
    let list = times.map { #"<InstantaneousBeatsPerMinute bpm="61" time="\#($0)"/>"# }.joined()
    let text = ExportText(
      ExportText.record(
        "HKQuantityTypeIdentifierHeartRateVariabilitySDNN", at: times[0].contains("59") ? -2 : 0, unit: "ms",
        children: "<HeartRateVariabilityMetadataList>\(list)</HeartRateVariabilityMetadataList>")
    ).text
    let written = RewrittenExport(try Reading(text), offset: -18_000).text
    #expect(missing(AppleXML(text).elements(), from: AppleXML(written).elements()) == [])
    #expect(!written.contains("hpeer."))
  }

  @Test func whatTheFormPrintsIsNotKeptTwice() throws {
    for times in [["8:00:01.68\u{202F}PM", "8:00:02.10\u{202F}PM"], ["20:00:01,68", "20:00:02,10"]] {
      let list = times.map { #"<InstantaneousBeatsPerMinute bpm="61" time="\#($0)"/>"# }.joined()
      let reading = try Reading(
        ExportText(
          ExportText.record(
            children: "<HeartRateVariabilityMetadataList>\(list)</HeartRateVariabilityMetadataList>")))
      let metadata = try #require(reading.samples.first).metadata
      #expect(metadata["hpeer.beatsFormat"] == .string(times[0]))
      #expect(metadata["hpeer.beatsPerMinute.wallClock"] == nil)
    }
  }

  @Test func aLongRouteIsOneElement() throws {
    var point = RoutePoint(time: 0, latitude: 1, longitude: 2)
    let start = Timestamp(seconds: 0)
    let parts = [RouteParts.pointsPerSample, 2, 3].map { count in
      point.latitude += 1
      return Sample(
        uuid: UUID(), type: .workoutRoute, start: start, end: start, source: Source(name: "s"),
        payload: .workoutRoute(WorkoutRoute(points: Array(repeating: point, count: count))))
    }
    let workout = Sample(
      uuid: UUID(), type: .workout, start: start, end: start, source: Source(name: "s"),
      payload: .workout(Workout(activityType: .name("HKWorkoutActivityTypeRunning"))))
    var writer = AppleExportWriter(exportDate: start, offset: 0)
    let isWritten = writer.append(workout, related: parts)
    #expect(isWritten)
    let text = String(decoding: writer.take(), as: UTF8.self)
    let routes = text.split(separator: "<WorkoutRoute ").dropFirst()
    #expect(routes.map { $0.split(separator: "<Location").count - 1 } == [RouteParts.pointsPerSample + 2, 3])
    #expect(text.hasSuffix("</WorkoutRoute>\n</Workout>\n"))
  }

  @Test func whatHasNoElementIsNotWritten() {
    let start = Timestamp(seconds: 0)
    var writer = AppleExportWriter(exportDate: start, offset: 0)
    for payload in [Payload.electrocardiogram(Electrocardiogram()), .workoutRoute(WorkoutRoute())] {
      let sample = Sample(
        uuid: UUID(), type: .electrocardiogram, start: start, end: start, source: Source(name: "s"), payload: payload)
      let isWritten = writer.append(sample)
      #expect(!isWritten)
    }
    #expect(writer.take().isEmpty)
  }
}
