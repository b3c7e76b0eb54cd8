import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests of exports that are damaged or designed to cost time and memory. Inputs are so long that quadratic work
/// would take many minutes.
@Suite("Hostile and damaged exports", .timeLimit(.minutes(2)))
struct HostileExportTests {
  private let folder: TemporaryFolder
  private let small = ExportText(ExportText.record()).text
  private let large = ExportText((0..<3).map { ExportText.record(at: $0) }).text

  init() throws { folder = try TemporaryFolder() }

  private func failure(_ bytes: [UInt8]) throws -> ImportError? {
    let path = try folder.write(bytes, to: "a.zip")
    do throws(ImportError) {
      _ = try AppleHealthExport.all(at: path)
      return nil
    } catch {
      return error
    }
  }

  // MARK: Several exports

  @Test("an older export doesn't take the place of a newer one that can't be read")
  func largerIsUnreadable() throws {
    var encrypted = ZipBytes()
    encrypted.add("old/export.xml", Array(small.utf8))
    encrypted.isEncrypted = true
    encrypted.add("new/export.xml", Array(large.utf8))
    #expect(try failure(encrypted.withDirectory) == .encryptedZip(path: "\(folder.path)/a.zip"))

    var damaged = ZipBytes()
    damaged.add("old/export.xml", Array(small.utf8))
    damaged.add("new/export.xml", Array(large.utf8))
    // In the header of the first block.
    var bytes = damaged.withDirectory
    let name = Array("new/export.xml".utf8)
    let place = try #require(bytes.firstRange(of: name)?.upperBound)
    bytes[place] = 7
    guard case .damagedZip? = try failure(bytes) else {
      Issue.record("\(String(describing: try failure(bytes)))")
      return
    }
  }

  @Test("a smaller file that can't be read is named")
  func smallerIsUnreadable() throws {
    var zip = ZipBytes()
    zip.add("new/export.xml", Array(large.utf8))
    zip.isEncrypted = true
    zip.add("old/export.xml", Array(small.utf8))
    let exports = try AppleHealthExport.all(at: try folder.write(zip.withDirectory, to: "a.zip"))
    #expect(exports.count == 1)
    #expect(exports[0].remarks.contains { $0.hasPrefix("old/export.xml: may be another export") })
  }

  @Test("a clinical document that can't be read is no reason to refuse the export")
  func clinicalDocumentIsUnreadable() throws {
    var zip = ZipBytes()
    zip.add("apple_health_export/export.xml", Array(small.utf8))
    zip.isEncrypted = true
    zip.add("apple_health_export/export_cda.xml", Array(large.utf8))
    #expect(try AppleHealthExport.all(at: try folder.write(zip.withDirectory, to: "a.zip")).count == 1)
  }

  // MARK: Without a table of contents

  @Test("a damaged side file costs no more than itself", arguments: ZipBytes.Descriptor.allCases)
  func damagedSideFile(descriptor: ZipBytes.Descriptor) throws {
    for isFirst in [true, false] {
      var zip = ZipBytes(descriptor: descriptor, isDeflated: descriptor != .none)
      func addTrack() { zip.add("a/workout-routes/r.gpx", Array("<gpx/>".utf8), 1, size: 6) }
      if isFirst, descriptor == .none { addTrack() }
      zip.add("a/export.xml", Array(large.utf8))
      zip.add("a/workout-routes/s.gpx", Array("<gpx></gpx>".utf8))
      if !isFirst, descriptor == .none { addTrack() }
      let export = try AppleHealthExport(path: try folder.write(zip.bytes, to: "cut.zip"))
      #expect(try Reading(export).recordCount == 3)
      #expect(try export.folder().members.map(\.name) == ["workout-routes/s.gpx"])
    }
  }

  @Test(
    "an XML whose checksum is another is damaged, and doesn't merely end early",
    arguments: ZipBytes.Descriptor.allCases)
  func damagedXML(descriptor: ZipBytes.Descriptor) throws {
    var zip = ZipBytes(descriptor: descriptor)
    zip.add("a/export.xml", Array(large.utf8))
    var bytes = zip.bytes
    let value = try #require(bytes.firstRange(of: Array("value=\"72\"".utf8)))
    bytes[value.lowerBound + 7] = UInt8(ascii: "9")
    guard case .damagedZip(_, let detail, _)? = try failure(bytes), detail == "CRC error" else {
      Issue.record("\(String(describing: try failure(bytes)))")
      return
    }
  }

  // MARK: Cost

  @Test("closing tags without an end are read once")
  func closingTags() throws {
    let run = String(repeating: "</", count: 4_000_000) + ">"
    let reading = try Reading(ExportText(ExportText.record(), run, ExportText.record(at: 1)).text)
    #expect(reading.recordCount >= 1)
  }

  @Test("many heart beats, and many statistics of a workout, with attributes that nobody knows")
  func unknownAttributes() throws {
    let beats = (0..<100_000).map { #"<InstantaneousBeatsPerMinute bpm="6" time="1" x="\#($0)"/>"# }.joined()
    let list = "<HeartRateVariabilityMetadataList>\(beats)</HeartRateVariabilityMetadataList>"
    let statistics = (0..<40_000).map { #"<WorkoutStatistics type="S" sum="1" x="\#($0)"/>"# }.joined()
    let date = ExportText.date(0)
    let workout =
      #"<Workout workoutActivityType="W" sourceName="Watch" creationDate="\#(date)" startDate="\#(date)" endDate="\#(date)">"#
      + statistics + "</Workout>"
    let reading = try Reading(
      ExportText(ExportText.record(at: 1), ExportText.record(at: 2, children: list), workout, ExportText.record(at: 3))
        .text)
    #expect(reading.samples.filter { $0.type.rawValue == ExportText.heartRate }.count >= 2)
  }

  @Test("a record with more metadata than can travel is left out, and the others are read")
  func metadata() throws {
    let entries = (0..<400_000).map { ExportText.metadata("key\($0)", "value") }.joined()
    let reading = try Reading(
      ExportText(ExportText.record(), ExportText.record(at: 1, children: entries), ExportText.record(at: 2)).text)
    #expect(reading.samples.map(\.start.seconds) == [0, 2].map { ExportText.start.seconds + $0 })
    #expect(reading.report.skipped.keys.contains { $0.contains(Sample.tooLarge) })
  }

  @Test("members of a correlation that has too many go on as records")
  func members() throws {
    let date = ExportText.date(0)
    let members = (0..<100_010).map { ExportText.record(at: $0) }
    let correlation =
      #"<Correlation type="HKCorrelationTypeIdentifierFood" sourceName="Watch" creationDate="\#(date)" startDate="\#(date)" endDate="\#(date)">"#
    let reading = try Reading(ExportText([correlation] + members + ["</Correlation>"]).text)
    #expect(reading.samples.count == members.count)
    #expect(reading.report.skipped.keys.contains { $0.contains(Sample.tooLarge) })
  }

  // MARK: Files beside the XML

  @Test("two files whose names differ in case only are two")
  func cases() throws {
    try folder.write(small, to: "e/export.xml")
    try folder.write("a", to: "e/clinical-records/A.json")
    try folder.write("bb", to: "e/clinical-records/a.json")
    let files = SideFiles(try AppleHealthExport(path: "\(folder.path)/e").folder())
    #expect(files.member("/clinical-records/A.json")?.size == 1)
    #expect(files.member("/clinical-records/a.json")?.size == 2)
    #expect(files.unread(in: "clinical-records", ending: ".json").count == 2)
  }

  @Test("an attachment beside the XML is found in a folder as in a zip file, and other files there are nobody's")
  func attachments() throws {
    let identifier = "5F1C2B5B-8E5F-4A38-9C5E-1E4D6B7A0003"
    let prescription =
      #"<VisionPrescription type="HKVisionPrescriptionTypeIdentifier" dateIssued="\#(ExportText.date(0))"><Attachment identifier="\#(identifier)"/></VisionPrescription>"#
    let xml = ExportText(prescription).text
    try folder.write(xml, to: "e/export.xml")
    try folder.write("scan", to: "e/\(identifier).pdf")
    try folder.write("mine", to: "e/taxes.pdf")
    var zip = ZipBytes()
    zip.add("e/export.xml", Array(xml.utf8))
    zip.add("e/\(identifier).pdf", Array("scan".utf8))
    let unpacked = try Reading(try AppleHealthExport(path: "\(folder.path)/e"))
    let zipped = try Reading(try AppleHealthExport(path: try folder.write(zip.withDirectory, to: "e.zip")))
    #expect(unpacked.samples == zipped.samples)
    guard case .visionPrescription(let found)? = unpacked.samples.first?.payload else {
      Issue.record("no prescription")
      return
    }
    #expect(found.attachments.first?.content == Data("scan".utf8))
    #expect(!unpacked.report.remarks.keys.contains { $0.contains("taxes") })
  }

  @Test("an activity summary before the date of the export has that date")
  func dateBehind() throws {
    var text = ExportText(
      ##"<ActivitySummary dateComponents="2024-06-15" activeEnergyBurned="455.1" activeEnergyBurnedUnit="kcal"/>"##)
    text.body.append(#"<ExportDate value="2024-07-02 12:00:00 +0200"/>"#)
    let xml = text.text.replacing(#" <ExportDate value="2024-07-01 12:00:00 +0200"/>"#, with: "")
    #expect(try Reading(xml).readings.map(\.created) == [Timestamp(iso8601: "2024-07-02T10:00:00Z")])
  }

  // MARK: Writing

  @Test(
    "what apps send of their own is in no export of Apple's",
    arguments: ["hae.step_count", "healthpush.steps", "p247.steps"])
  func ownTypes(type: String) {
    let time = ExportText.start
    let sample = Sample(
      uuid: UUID(), type: SampleType(type), start: time, end: time, source: Source(name: "App"),
      payload: .quantity(Quantity(1, "count")))
    #expect(AppleExportWriter.section(of: sample) == .none)
  }

  @Test("places near the meridian and the equator have no exponents in GPX")
  func decimals() {
    let text = AppleText(offset: 0)
    #expect(text.decimal(-3e-05) == "-0.00003" && text.decimal(1e-07) == "0.0000001")
    #expect(text.decimal(52.5) == "52.5" && text.decimal(13) == "13" && text.decimal(1e300) == nil)
  }
}
