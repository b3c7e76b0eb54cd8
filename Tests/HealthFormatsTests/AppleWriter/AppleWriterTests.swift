import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests that an export loses nothing when it is read and written again.
@Suite struct AppleWriterTests {
  /// An export with an element of each kind.
  private static let rich = ExportText(
    ##"<Me HKCharacteristicTypeIdentifierDateOfBirth="1980-01-02" HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale" HKCharacteristicTypeIdentifierBloodType="" HKCharacteristicTypeIdentifierFitzpatrickSkinType="HKFitzpatrickSkinTypeNotSet" HKCharacteristicTypeIdentifierCardioFitnessMedicationsUse="None"/>"##,
    ExportText.record(
      device:
        "&lt;&lt;HKDevice: 0x28&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:9.4, creation date:2024-01-01 00:00:00 +0000&gt;"
    ),
    ExportText.record(at: 1, value: "9.94194e-05", extra: "someday=\"a &amp; b\""),
    // Twins.
    ExportText.record(at: 2), ExportText.record(at: 2),
    ExportText.record(at: 3, value: "text", unit: "count"),
    ExportText.record(at: 4, source: "Nam\u{2019}s\u{A0}&lt;Watch&gt; &quot;6&quot;", device: "a strap"),
    ExportText.record(
      ExportText.sleep, at: 5, value: "HKCategoryValueSleepAnalysisAsleepREM", unit: nil,
      children: ExportText.metadata("HKTimeZone", "Europe/Berlin") + ExportText.metadata("meal", "a&#10;b")
        + ExportText.metadata("Meal", "c") + ExportText.metadata("Meal", "d")),
    ExportText.record(ExportText.sleep, at: 6, value: nil, unit: nil),
    ExportText.record("HKCategoryTypeIdentifierUnheardOf", at: 6, value: "HKCategoryValueUnheardOf", unit: nil),
    ExportText.record("HKDataTypeSleepDurationGoal", at: 7, value: "8", unit: "hr"),
    ExportText.record(
      "HKQuantityTypeIdentifierHeartRateVariabilitySDNN", at: 8, unit: "ms",
      children: #"<HeartRateVariabilityMetadataList><InstantaneousBeatsPerMinute bpm="61" time="10:00:08.12"/>"#
        + #"<InstantaneousBeatsPerMinute bpm="62" time="10:00:09.10"/></HeartRateVariabilityMetadataList>"#),
    bloodPressure, systolic, diastolic,
    ##"<Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30.0166666" durationUnit="min" totalDistance="5.2" totalDistanceUnit="km" totalEnergyBurned="320" totalEnergyBurnedUnit="kcal" sourceName="Watch" creationDate="\##(ExportText.date(20))" startDate="\##(ExportText.date(9))" endDate="\##(ExportText.date(19))">"##
      + ExportText.metadata("HKIndoorWorkout", "0")
      + ##"<WorkoutEvent type="HKWorkoutEventTypePause" date="\##(ExportText.date(10))" duration="0.5" durationUnit="min">"##
      + ExportText.metadata("k", "v") + "</WorkoutEvent>"
      + ##"<WorkoutActivity uuid="5F1C2B5B-8E5F-4A38-9C5E-1E4D6B7A0003" startDate="\##(ExportText.date(10))" endDate="\##(ExportText.date(12))" duration="0.1" durationUnit="min">"##
      + ##"<WorkoutStatistics type="HKQuantityTypeIdentifierStepCount" startDate="\##(ExportText.date(10))" endDate="\##(ExportText.date(12))" sum="12" unit="count"/>"##
      + ##"</WorkoutActivity>"##
      + ##"<WorkoutStatistics type="\##(ExportText.heartRate)" startDate="\##(ExportText.date(9))" endDate="\##(ExportText.date(19))" average="141.5" minimum="90" maximum="171" unit="count/min" later="1"/>"##
      + "</Workout>",
    ##"<ActivitySummary dateComponents="2024-06-15" activeEnergyBurned="455.1" activeEnergyBurnedGoal="500" activeEnergyBurnedUnit="kcal" appleMoveTime="0" appleExerciseTime="31" appleStandHours="9" appleStandHoursGoal="12"/>"##,
    ##"<Audiogram type="HKDataTypeIdentifierAudiogram" sourceName="Ears" startDate="\##(ExportText.date(30))" endDate="\##(ExportText.date(40))">"##
      + ExportText.metadata("k", "v")
      + ##"<SensitivityPoint frequencyValue="250" frequencyUnit="Hz" leftEarValue="10.5" leftEarUnit="dBHL"/></Audiogram>"##,
    ##"<VisionPrescription type="HKVisionPrescriptionTypeIdentifier" dateIssued="\##(ExportText.date(50))" expirationDate="\##(ExportText.date(99))" brand="B"><RightEye sphere="-1.5" sphereUnit="D"/><Attachment identifier="x"/></VisionPrescription>"##,
    ##"<ClinicalRecord type="LabResultRecord" identifier="abc" sourceName="Clinic" sourceURL="https://example.org/?a=1&amp;b=2" fhirVersion="4.0.1" receivedDate="\##(ExportText.date(60))" resourceFilePath="/clinical-records/a.json"/>"##,
    ##"<NewElement type="HKNew" sourceName="X" startDate="\##(ExportText.date(70))" endDate="\##(ExportText.date(71))" a="1"><Inner b="2"><Deeper c="3"/></Inner></NewElement>"##
  )

  private static let systolic = ExportText.record(
    "HKQuantityTypeIdentifierBloodPressureSystolic", at: 15, value: "120", unit: "mmHg")
  private static let diastolic = ExportText.record(
    "HKQuantityTypeIdentifierBloodPressureDiastolic", at: 15, value: "80", unit: "mmHg")
  private static let bloodPressure =
    ##"<Correlation type="HKCorrelationTypeIdentifierBloodPressure" sourceName="Cuff" creationDate="\##(ExportText.date(16))" startDate="\##(ExportText.date(15))" endDate="\##(ExportText.date(15))">"##
    + ExportText.metadata("k", "v") + systolic + diastolic + "</Correlation>"

  @Test(arguments: [0, 7200, -12_600])
  func nothingIsMissing(offset: Int) throws {
    let reading = try Reading(Self.rich)
    let written = RewrittenExport(reading, offset: offset)
    #expect(written.omitted == 0)
    let (before, after) = (AppleXML(Self.rich.text).elements(), AppleXML(written.text).elements())
    #expect(missing(before, from: after) == [])
    #expect(missing(after, from: before) == [])
  }

  @Test func whatIsWrittenIsReadAsTheSameSamples() throws {
    let reading = try Reading(Self.rich)
    let again = try Reading(RewrittenExport(reading, offset: 3600).text)
    #expect(again.report.isComplete && again.report.skipped.isEmpty)
    #expect(again.report.version == 14)
    #expect(again.report.utcOffset == 3600)
    let before = Dictionary(reading.samples.map { ($0.uuid, $0) }, uniquingKeysWith: { first, _ in first })
    let after = Dictionary(again.samples.map { ($0.uuid, $0) }, uniquingKeysWith: { first, _ in first })
    #expect(Set(before.keys) == Set(after.keys))
    for (uuid, sample) in before where sample.type != .workout { #expect(after[uuid] == sample) }
    #expect(Set(again.readings.map(\.uuid)) == Set(reading.readings.map(\.uuid)))
  }

  @Test func aParserOfXMLReadsIt() throws {
    let written = RewrittenExport(try Reading(Self.rich)).text
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])"]
    let folder = try TemporaryFolder()
    process.arguments?.append(try folder.write(written, to: "export.xml"))
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test func attributesStandInApplesOrder() throws {
    let device = "&lt;&lt;HKDevice: 0x28&gt;, name:Apple Watch&gt;"
    let text = RewrittenExport(try Reading(ExportText(ExportText.record(device: device)))).text
    #expect(
      text.contains(
        #" <Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Watch" sourceVersion="10.1" device="&lt;&lt;HKDevice: 0x0&gt;, name:Apple Watch&gt;" unit="count/min" creationDate="2024-06-15 08:00:00 +0000" startDate="2024-06-15 08:00:00 +0000" endDate="2024-06-15 08:00:00 +0000" value="72"/>"#
      ))
    #expect(text.hasSuffix("</HealthData>\n"))
  }

  /// Samples that no import of Apple's exports produces must not break the file.
  @Test func oddSamplesGiveAFileThatCanBeRead() throws {
    var writer = AppleExportWriter(exportDate: Timestamp(seconds: 0), offset: 0)
    writer.begin(characteristics: [])
    var written = 0
    var maker = SampleMaker(seed: 9)
    for sample in SampleMaker.edgeCases + maker.samples(500) where writer.append(sample) { written += 1 }
    writer.end()
    let reading = try Reading(bytes: writer.take())
    #expect(reading.report.isComplete)
    #expect(written > 500)
    #expect(reading.report.skipped.keys.allSatisfy { !$0.contains("malformed") && !$0.contains("text between") })
  }

  @Test("characters that XML cannot say, and names that are none, do not get into the file")
  func unsayable() {
    let sample = Sample(
      uuid: UUID(), type: SampleType(ExportText.heartRate), start: Timestamp(seconds: 0), end: Timestamp(seconds: 0),
      source: Source(name: "a\u{FFFE}b\u{FFFF}\u{1}\u{FFFD}\u{FF01}\u{10FFFF}"),
      metadata: ["hpeer.attribute.\u{24B6}": .string("1"), "hpeer.attribute.\u{E9}": .string("2")],
      payload: .quantity(Quantity(72, "count/min")))
    var writer = AppleExportWriter(exportDate: Timestamp(seconds: 0), offset: 0)
    let isWritten = writer.append(sample)
    let text = String(decoding: writer.take(), as: UTF8.self)
    #expect(isWritten)
    #expect(text.contains("sourceName=\"ab\u{FFFD}\u{FF01}\u{10FFFF}\""))
    #expect(text.contains(" \u{E9}=\"2\"") && !text.contains(" \u{24B6}="))
    #expect(text.contains("<MetadataEntry key=\"hpeer.attribute.\u{24B6}\" value=\"1\"/>"))
  }

  @Test func aggregatesOfAnotherAppAreLeftOut() {
    let sample = Sample(
      uuid: UUID(), type: SampleType("hae.step_count"), start: Timestamp(seconds: 0), end: Timestamp(seconds: 0),
      source: Source(name: "x"), payload: .quantity(Quantity(1, "count")))
    var writer = AppleExportWriter(exportDate: Timestamp(seconds: 0), offset: 0)
    let isWritten = writer.append(sample)
    #expect(!isWritten)
  }
}
