import Foundation
import HealthModel
import Testing

@testable import HealthFormats

@Suite struct ElementTests {
  private func date(_ second: Int) -> Timestamp { Timestamp(seconds: ExportText.start.seconds + Int64(second)) }

  @Test func aWorkoutHasAllItsParts() throws {
    let d = { ExportText.date($0) }
    let text = """
      <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30.5" durationUnit="min" \
      totalDistance="5.2" totalDistanceUnit="km" totalSwimmingStrokeCount="12" sourceName="Watch" \
      startDate="\(d(0))" endDate="\(d(1830))" new="x">
       \(ExportText.metadata("HKIndoorWorkout", "0"))
       <WorkoutEvent type="HKWorkoutEventTypeLap" date="\(d(10))" duration="2" durationUnit="min">\
      \(ExportText.metadata("lap", "1"))</WorkoutEvent>
       <WorkoutEvent type="HKWorkoutEventTypePause" date="\(d(20))"/>
       <WorkoutStatistics type="HKQuantityTypeIdentifierHeartRate" startDate="\(d(0))" endDate="\(d(1830))" \
      average="140.5" minimum="90" maximum="180" unit="count/min"/>
       <WorkoutActivity uuid="A-1" startDate="\(d(0))" endDate="\(d(900))" duration="900" durationUnit="s">
        <WorkoutEvent type="HKWorkoutEventTypeSegment" date="\(d(5))"/>
        <WorkoutStatistics type="HKQuantityTypeIdentifierActiveEnergyBurned" startDate="\(d(0))" endDate="\(d(900))" \
      sum="100" unit="kcal"/>
        \(ExportText.metadata("leg", "0"))
       </WorkoutActivity>
       <WorkoutRoute sourceName="Watch" startDate="\(d(0))" endDate="\(d(1830))">
        \(ExportText.metadata("HKMetadataKeySyncVersion", "2"))
        <FileReference path="/workout-routes/route_1.gpx"/>
       </WorkoutRoute>
      </Workout>
      """
    let reading = try Reading(ExportText(text))
    let sample = try #require(reading.samples.first)
    let expected = Workout(
      activityType: .value(37), duration: 1830,
      totals: ["totalDistance": Quantity(5.2, "km"), "totalSwimmingStrokeCount": Quantity(12, "")],
      statistics: [
        WorkoutStatistics(
          type: SampleType(ExportText.heartRate), start: date(0), end: date(1830), average: 140.5, minimum: 90,
          maximum: 180, unit: "count/min")
      ],
      events: [
        WorkoutEvent(type: "HKWorkoutEventTypeLap", date: date(10), duration: 120, metadata: ["lap": "1"]),
        WorkoutEvent(type: "HKWorkoutEventTypePause", date: date(20)),
      ],
      activities: [
        WorkoutActivity(
          uuid: "A-1", start: date(0), end: date(900), duration: 900, metadata: ["leg": "0"],
          statistics: [
            WorkoutStatistics(
              type: SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"), start: date(0), end: date(900), sum: 100,
              unit: "kcal")
          ],
          events: [WorkoutEvent(type: "HKWorkoutEventTypeSegment", date: date(5))])
      ])
    #expect(sample.payload == .workout(expected))
    #expect(sample.type == .workout)
    #expect(
      sample.metadata
        == [
          "HKIndoorWorkout": "0", "hpeer.attribute.new": "x",
        ])
    #expect(reading.report.elements == ["Workout": 1, "WorkoutRoute": 1])
    // Without its file: kept, and said.
    let route = try #require(reading.samples.last)
    #expect(
      route.payload == .workoutRoute(WorkoutRoute(workout: sample.reference, path: "/workout-routes/route_1.gpx")))
    #expect(route.metadata == ["HKMetadataKeySyncVersion": "2"])
    #expect(reading.report.remarks["WorkoutRoute whose file is missing"]?.count == 1)
    #expect(reading.report.skipped.isEmpty)
  }

  @Test func aSecondStartOfStatisticsIsTheirEnd() throws {
    let reading = try Reading(
      ExportText(
        #"<Workout workoutActivityType="x" sourceName="s" startDate="\#(ExportText.date(0))">"#
          + #"<WorkoutStatistics type="t" startDate="\#(ExportText.date(1))" startDate="\#(ExportText.date(2))""#
          + #" sum="1"/></Workout>"#
      ))
    guard case .workout(let workout) = reading.samples.first?.payload else {
      Issue.record("no workout")
      return
    }
    #expect(workout.statistics == [WorkoutStatistics(type: SampleType("t"), start: date(1), end: date(2), sum: 1)])
    #expect(reading.report.remarks.isEmpty)
  }

  @Test func hoursAreConvertedAndStrangeUnitsKept() throws {
    func workout(_ attributes: String) throws -> Sample? {
      try Reading(
        ExportText(
          #"<Workout workoutActivityType="x" \#(attributes) sourceName="s" startDate="\#(ExportText.date(0))"/>"#)
      ).samples.first
    }
    guard case .workout(let hours) = try workout(#"duration="2" durationUnit="hr""#)?.payload else { return }
    #expect(hours.duration == 7200)
    let strange = try workout(#"duration="2" durationUnit="moons""#)
    #expect(strange?.metadata == ["hpeer.attribute.duration": "2", "hpeer.attribute.durationUnit": "moons"])
  }

  @Test func characteristicsDrift() throws {
    let reading = try Reading(
      ExportText(
        #"<Me HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale""#
          + #" HKCharacteristicTypeIdentifierDateOfBirth=""/>"#
      ))
    let sample = try #require(reading.readings.first)
    #expect(reading.readings.count == 1)
    #expect(sample.payload == .characteristic(CharacteristicValue(value: "HKBiologicalSexFemale")))
    #expect(sample.uuid == SampleIdentity.uuid(ofReading: sample))
    #expect(sample.created == Timestamp(iso8601: "2024-07-01T10:00:00Z"))
    #expect(reading.report.exportDate == sample.created)
    #expect(reading.report.utcOffset == 7200)
    #expect(reading.report.locale == "en_DE")
    #expect(reading.report.version == 14)
  }

  @Test func aDaysSummaryDrifts() throws {
    let reading = try Reading(
      ExportText(#"<ActivitySummary dateComponents="2017-09-25" activeEnergyBurned="301.5" new="1"/>"#))
    let sample = try #require(reading.readings.first)
    #expect(
      sample.payload
        == .activitySummary(
          ActivitySummary(date: "2017-09-25", attributes: ["activeEnergyBurned": "301.5", "new": "1"])))
    #expect(sample.start == Timestamp(iso8601: "2017-09-25"))
    #expect(sample.end == Timestamp(iso8601: "2017-09-26"))
    let bad = try Reading(ExportText(#"<ActivitySummary dateComponents="x"/>"#, "<ActivitySummary/>"))
    #expect(bad.readings.isEmpty)
    #expect(bad.samples.map(\.payload.kind) == ["foreign.activitySummary", "foreign.activitySummary"])
    #expect(bad.report.skipped.isEmpty)
  }

  @Test func rareElementsHaveTheirPayloads() throws {
    let reading = try Reading(
      ExportText(
        #"<ClinicalRecord type="HKClinicalTypeIdentifierLabResultRecord" identifier="6F1A" sourceName="Clinic""#
          + #" sourceURL="u" fhirVersion="4.0.1" receivedDate="\#(ExportText.date(0))""#
          + #" resourceFilePath="/clinical-records/x.json" new="1"/>"#,
        #"<Audiogram sourceName="s" startDate="\#(ExportText.date(0))" endDate="\#(ExportText.date(1))">"#
          + #"<SensitivityPoint frequencyValue="250" frequencyUnit="Hz" leftEarValue="12.5" leftEarUnit="dBHL""#
          + #" leftEarMasked="true" leftEarClampingRangeLowerBound="-10" leftEarClampingRangeUpperBound="80""#
          + #" rightEarValue="x"/><SensitivityPoint frequencyUnit="Hz"/>"#
          + ExportText.metadata("k", "v") + "</Audiogram>",
        #"<VisionPrescription type="t" dateIssued="\#(ExportText.date(0))" expirationDate="\#(ExportText.date(60))""#
          + #" brand="B"><LeftEye sphere="-1" sphereUnit="D" axis="x"/><Attachment identifier="A1"/>"#
          + "</VisionPrescription>"))
    #expect(
      reading.samples.map(\.payload) == [
        .clinicalRecord(
          ClinicalRecord(
            identifier: "6F1A", fhirVersion: "4.0.1", sourceURL: "u", received: ExportText.start,
            path: "/clinical-records/x.json")),
        .audiogram(
          Audiogram(points: [
            SensitivityPoint(
              frequency: Quantity(250, "Hz"),
              left: EarSensitivity(
                threshold: Quantity(12.5, "dBHL"), masked: true, lowerBound: -10, upperBound: 80))
          ])),
        .visionPrescription(
          VisionPrescription(
            expires: date(60), brand: "B", left: ["sphere": Quantity(-1, "D")],
            attachments: [PrescriptionAttachment(identifier: "A1")])),
      ])
    #expect(reading.samples[0].start == ExportText.start)
    #expect(reading.samples[0].metadata == ["hpeer.attribute.new": "1"])
    #expect(reading.samples[1].type.rawValue == "HKDataTypeIdentifierAudiogram")
    #expect(
      reading.samples[1].metadata == [
        "k": "v", "hpeer.attribute.SensitivityPoint.250.0.rightEarValue": "x",
        "hpeer.element.SensitivityPoint": #"{"attributes":{"frequencyUnit":"Hz"},"element":"SensitivityPoint"}"#,
      ])
    #expect(reading.samples[2].metadata == ["hpeer.attribute.LeftEye.axis": "x"])
    #expect(reading.report.skipped.isEmpty)
  }

  @Test func clinicalRecordsAreToldApartByIdentifier() throws {
    let records = ["b", "a", "c"].map {
      #"<ClinicalRecord type="t" identifier="\#($0)" sourceName="s" receivedDate="\#(ExportText.date(0))"/>"#
    }
    let all = try Reading(ExportText(records))
    let fewer = try Reading(ExportText(records[0], records[2]))
    #expect(all.uuids.count == 3)
    #expect(fewer.uuids.isSubset(of: all.uuids))
  }

  @Test(arguments: ["quantity", "Category", "correlation", "ActivitySummary2", "characteristic"])
  func anElementThatIsNamedLikeAKindCanBeReadBack(_ name: String) throws {
    let reading = try Reading(
      ExportText(#"<\#(name) type="t" sourceName="s" startDate="\#(ExportText.date(0))" value="7"/>"#))
    let sample = try #require(reading.samples.first)
    #expect(try JSONDecoder().decode(Sample.self, from: JSONEncoder().encode(sample)) == sample)
    guard case .unknown(let kind, .object(let content)) = sample.payload else {
      Issue.record("\(sample.payload)")
      return
    }
    #expect(kind == (name == "ActivitySummary2" ? "activitySummary2" : "foreign.\(name.lowercased())"))
    #expect(content["attributes"] != nil)
  }
}

extension JSONValue: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self = .string(value) }
}
