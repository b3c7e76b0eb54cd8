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
          "HKIndoorWorkout": "0", "hpeer.attribute.new": "x", "hpeer.route": "/workout-routes/route_1.gpx",
        ])
    #expect(reading.report.skipped["WorkoutRoute: not imported yet"]?.count == 1)
    #expect(reading.report.elements == ["Workout": 1])
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

  @Test func pointsOfARouteAreCounted() throws {
    let reading = try Reading(
      ExportText(
        #"<Workout workoutActivityType="x" sourceName="s" startDate="\#(ExportText.date(0))">"#
          + #"<WorkoutRoute sourceName="s">"#
          + #"<Location latitude="1"/><Location latitude="2"/></WorkoutRoute></Workout>"#))
    #expect(reading.report.skipped["Location: routes are not imported yet"]?.count == 2)
    #expect(reading.samples.count == 1)
  }

  @Test func characteristicsDrift() throws {
    let reading = try Reading(
      ExportText(
        #"<Me HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale""#
          + #" HKCharacteristicTypeIdentifierDateOfBirth=""/>"#
      ))
    let sample = try #require(reading.drifting.first)
    #expect(reading.drifting.count == 1)
    #expect(sample.payload == .characteristic(CharacteristicValue(value: "HKBiologicalSexFemale")))
    #expect(sample.uuid == SampleIdentity.uuid(ofDrifting: sample))
    #expect(sample.created == Timestamp(iso8601: "2024-07-01T10:00:00Z"))
    #expect(reading.report.exportDate == sample.created)
    #expect(reading.report.utcOffset == 7200)
    #expect(reading.report.locale == "en_DE")
    #expect(reading.report.version == 14)
  }

  @Test func aDaysSummaryDrifts() throws {
    let reading = try Reading(
      ExportText(#"<ActivitySummary dateComponents="2017-09-25" activeEnergyBurned="301.5" new="1"/>"#))
    let sample = try #require(reading.drifting.first)
    #expect(
      sample.payload
        == .activitySummary(
          ActivitySummary(date: "2017-09-25", attributes: ["activeEnergyBurned": "301.5", "new": "1"])))
    #expect(sample.start == Timestamp(iso8601: "2017-09-25"))
    #expect(sample.end == Timestamp(iso8601: "2017-09-26"))
    let bad = try Reading(ExportText(#"<ActivitySummary dateComponents="x"/>"#, "<ActivitySummary/>"))
    #expect(bad.drifting.isEmpty)
    #expect(bad.report.skipped.count == 2)
  }

  @Test func whatTheModelHasNoPayloadForIsKeptAsJSON() throws {
    let reading = try Reading(
      ExportText(
        #"<ClinicalRecord type="HKClinicalTypeIdentifierLabResultRecord" identifier="6F1A" sourceName="Clinic""#
          + #" sourceURL="u" fhirVersion="4.0.1" receivedDate="\#(ExportText.date(0))""#
          + #" resourceFilePath="/clinical-records/x.json"/>"#,
        #"<Audiogram sourceName="s" startDate="\#(ExportText.date(0))" endDate="\#(ExportText.date(1))">"#
          + #"<SensitivityPoint frequencyValue="250" frequencyUnit="Hz"/>"#
          + ExportText.metadata("k", "v") + "</Audiogram>",
        #"<VisionPrescription type="t" dateIssued="\#(ExportText.date(0))" brand="B">"#
          + #"<LeftEye sphere="-1"/></VisionPrescription>"#,
        #"<StateOfMind startDate="\#(ExportText.date(0))" sourceName="s" valence="0.5"/>"#,
        #"<StateOfMind valence="0.5"/>"#))
    #expect(
      reading.samples.map(\.payload.kind) == ["clinicalRecord", "audiogram", "visionPrescription", "stateOfMind"])
    let clinical = try #require(reading.samples.first)
    #expect(
      clinical.payload
        == .unknown(
          kind: "clinicalRecord",
          content: .object([
            "attributes": .object([
              "identifier": "6F1A", "sourceURL": "u", "fhirVersion": "4.0.1",
              "resourceFilePath": "/clinical-records/x.json",
            ])
          ])))
    #expect(clinical.start == ExportText.start)
    #expect(reading.samples[1].type.rawValue == "HKDataTypeIdentifierAudiogram")
    #expect(reading.samples[1].metadata == ["k": "v"])
    #expect(
      reading.samples[2].payload
        == .unknown(
          kind: "visionPrescription",
          content: .object([
            "attributes": .object(["brand": "B"]),
            "children": .array([.object(["element": "LeftEye", "attributes": .object(["sphere": "-1"])])]),
          ])))
    #expect(reading.samples[3].type.rawValue == "StateOfMind")
    #expect(reading.report.skipped == ["StateOfMind without a startDate": .init(count: 1, lines: [12])])
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

  @Test func unknownElementsInsideOthersAreCounted() throws {
    let reading = try Reading(
      ExportText(
        ExportText.record(children: "<Future a=\"1\"><Deep/></Future>"), "<MetadataEntry key=\"k\" value=\"v\"/>",
        #"<Workout workoutActivityType="x" sourceName="s" startDate="\#(ExportText.date(0))"><Future/></Workout>"#))
    #expect(reading.samples.count == 2)
    #expect(reading.report.skipped["Record/Future is unknown"] == .init(count: 1, lines: [8]))
    #expect(reading.report.skipped["Workout/Future is unknown"]?.count == 1)
    #expect(reading.report.skipped["MetadataEntry outside an element"]?.count == 1)
    #expect(reading.report.skipped.count == 3)
  }
}

extension JSONValue: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self = .string(value) }
}
