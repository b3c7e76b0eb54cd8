import Foundation
import HealthModel
import Testing

@testable import HealthFormats

@Suite struct UnknownElementTests {
  private func json(
    _ element: String, _ attributes: String = "{}", children: String = "", in place: String? = nil
  ) -> MetadataValue {
    let end = place.map { #","in":"\#($0)""# } ?? ""
    return .string(#"{"attributes":\#(attributes),\#(children)"element":"\#(element)"\#(end)}"#)
  }

  @Test func elementsOfTomorrowAreKeptAsJSON() throws {
    let reading = try Reading(
      ExportText(
        #"<StateOfMind startDate="\#(ExportText.date(0))" sourceName="s" valence="0.5"><Label a="1"/></StateOfMind>"#,
        #"<StateOfMind valence="0.5"/>"#, #"<StateOfMind valence="0.5" startDate="x"/>"#,
        #"<StateOfMind valence="0.7"/>"#))
    #expect(reading.samples.map(\.payload.kind) == Array(repeating: "stateOfMind", count: 4))
    #expect(reading.uuids.count == 4)
    #expect(
      reading.samples[0].payload
        == .unknown(
          kind: "stateOfMind",
          content: .object([
            "attributes": .object(["valence": "0.5"]),
            "children": .array([.object(["element": "Label", "attributes": .object(["a": "1"])])]),
          ])))
    #expect(reading.samples[0].start == ExportText.start)
    #expect(reading.samples[0].type.rawValue == "StateOfMind")
    #expect(reading.samples[1].start == Timestamp(seconds: 0))
    #expect(
      reading.samples[2].payload
        == .unknown(
          kind: "stateOfMind",
          content: .object(["attributes": .object(["valence": "0.5", "startDate": "x"])])))
    #expect(reading.report.remarks["StateOfMind is unknown"]?.count == 4)
    #expect(reading.report.remarks["StateOfMind without a startDate"]?.count == 3)
    #expect(reading.report.skipped.isEmpty)
  }

  @Test func insideARecordTheyAreMetadata() throws {
    let reading = try Reading(
      ExportText(
        ExportText.record(
          children: #"<Future a="1"><Deep b="&lt;"/></Future>"#
            + #"<MetadataEntry key="k" value="v" x="y"><Inner/></MetadataEntry><MetadataEntry value="lone"/>"#
            + "<HeartRateVariabilityMetadataList><Odd/></HeartRateVariabilityMetadataList>"),
        ExportText.record(at: 1)))
    #expect(
      reading.samples[0].metadata == [
        "k": "v", "hpeer.attribute.MetadataEntry.k.x": "y",
        "hpeer.element.Future": json(
          "Future", #"{"a":"1"}"#, children: #""children":[{"attributes":{"b":"<"},"element":"Deep"}],"#),
        "hpeer.element.Inner": json("Inner", in: "MetadataEntry.k"),
        "hpeer.element.MetadataEntry": json("MetadataEntry", #"{"value":"lone"}"#),
        "hpeer.element.Odd": json("Odd", in: "HeartRateVariabilityMetadataList"),
      ])
    #expect(reading.samples[1].metadata.isEmpty)
    #expect(reading.report.skipped.isEmpty)
    #expect(reading.report.remarks["Record/Future is unknown"] == .init(count: 1, lines: [8]))
    #expect(reading.report.remarks["MetadataEntry/Inner is unknown"]?.count == 1)
    #expect(reading.report.remarks["HeartRateVariabilityMetadataList/Odd is unknown"]?.count == 1)
  }

  @Test func insideACorrelationAndItsMembersTheyAreMetadata() throws {
    let date = ExportText.date(0)
    let reading = try Reading(
      ExportText(
        #"<Correlation type="c" sourceName="s" startDate="\#(date)"><Future/>"#
          + ExportText.record(children: "<Inner/>") + "</Correlation>"))
    let correlation = try #require(reading.samples.first { $0.payload.kind == "correlation" })
    let member = try #require(reading.samples.first { $0.payload.kind == "quantity" })
    #expect(correlation.metadata == ["hpeer.element.Future": json("Future")])
    #expect(member.metadata == ["hpeer.element.Inner": json("Inner")])
    #expect(reading.report.skipped.isEmpty)
  }

  @Test func everyPlaceOfAWorkoutKeepsThem() throws {
    let date = ExportText.date(0)
    let reading = try Reading(
      ExportText(
        #"<Workout workoutActivityType="x" sourceName="s" startDate="\#(date)"><A/>"#
          + #"<WorkoutEvent type="e" date="\#(date)" n="1"><B/></WorkoutEvent><WorkoutEvent date="when"/>"#
          + #"<WorkoutStatistics type="t" n="2"><C/></WorkoutStatistics><WorkoutStatistics n="3"/>"#
          + #"<WorkoutActivity uuid="u" startDate="\#(date)" n="4"><D/></WorkoutActivity>"#
          + #"<WorkoutActivity uuid="w"/>"#
          + #"<WorkoutRoute sourceName="s" startDate="\#(date)" n="5"><E/><FileReference path="p" n="6"><F/>"#
          + "</FileReference></WorkoutRoute></Workout>"))
    let workout = try #require(reading.samples.first)
    guard case .workout(let content) = workout.payload else {
      Issue.record("no workout")
      return
    }
    #expect(
      workout.metadata == [
        "hpeer.element.A": json("A"), "hpeer.element.C": json("C", in: "WorkoutStatistics.t"),
        "hpeer.attribute.WorkoutStatistics.t.n": "2",
        "hpeer.element.WorkoutEvent": json("WorkoutEvent", #"{"date":"when"}"#),
        "hpeer.element.WorkoutStatistics": json("WorkoutStatistics", #"{"n":"3"}"#),
        "hpeer.element.WorkoutActivity": json("WorkoutActivity", #"{"uuid":"w"}"#),
      ])
    #expect(content.events.map(\.metadata) == [["hpeer.attribute.n": "1", "hpeer.element.B": json("B")]])
    #expect(content.activities.map(\.metadata) == [["hpeer.attribute.n": "4", "hpeer.element.D": json("D")]])
    #expect(
      reading.samples.last?.metadata == [
        "hpeer.attribute.n": "5", "hpeer.element.E": json("E"), "hpeer.attribute.FileReference.n": "6",
        "hpeer.element.F": json("F", in: "FileReference"),
      ])
    #expect(reading.report.skipped.isEmpty)
  }

  @Test func everyPlaceOfRareElementsKeepsThem() throws {
    let date = ExportText.date(0)
    let reading = try Reading(
      ExportText(
        #"<Audiogram sourceName="s" startDate="\#(date)" n="1"><A/>"#
          + #"<SensitivityPoint frequencyValue="1" frequencyUnit="Hz" n="2"><B/></SensitivityPoint></Audiogram>"#,
        #"<VisionPrescription type="t" dateIssued="\#(date)" n="3"><C/><RightEye n="4"><D/></RightEye>"#
          + #"<Attachment identifier="i" n="5"><E/></Attachment></VisionPrescription>"#,
        #"<ClinicalRecord type="t" identifier="i" sourceName="s" receivedDate="\#(date)" n="6"><F/></ClinicalRecord>"#))
    #expect(
      reading.samples.map(\.metadata) == [
        [
          "hpeer.attribute.n": "1", "hpeer.element.A": json("A"),
          "hpeer.element.B": json("B", in: "SensitivityPoint.1.0"),
          "hpeer.attribute.SensitivityPoint.1.0.n": "2",
        ],
        [
          "hpeer.attribute.n": "3", "hpeer.element.C": json("C"), "hpeer.element.D": json("D", in: "RightEye"),
          "hpeer.element.E": json("E", in: "Attachment"), "hpeer.attribute.Attachment.n": "5",
        ],
        ["hpeer.attribute.n": "6", "hpeer.element.F": json("F")],
      ])
    guard case .visionPrescription(let prescription) = reading.samples[1].payload else { return }
    #expect(prescription.right == ["n": Quantity(4, "")])
    #expect(reading.report.skipped.isEmpty)
  }

  @Test func whatHasNoSampleToBeKeptInIsCounted() throws {
    let reading = try Reading(
      ExportText("<MetadataEntry key=\"k\" value=\"v\"><Inner/></MetadataEntry>", ExportText.record()))
    #expect(reading.samples.count == 1)
    #expect(reading.report.skipped["MetadataEntry outside an element"]?.count == 1)
    #expect(reading.report.skipped["MetadataEntry/Inner is unknown"]?.count == 1)
    #expect(reading.report.skipped.count == 2)
  }

  @Test func whatIsUnknownOfThePersonIsACharacteristic() throws {
    let reading = try Reading(
      #"<HealthData locale="en_DE" theme="dark"><ExportDate value="2024-07-01 12:00:00 +0200" by="me"><Why/></ExportDate>"#
        + #"<Me HKCharacteristicTypeIdentifierBloodType="A"><Future n="1"><Deep/></Future><Future/></Me></HealthData>"#)
    let values = Dictionary(
      uniqueKeysWithValues: reading.readings.map { sample -> (String, String) in
        guard case .characteristic(let value) = sample.payload else { return (sample.type.rawValue, "") }
        return (sample.type.rawValue, value.value)
      })
    #expect(
      values == [
        "HealthData/@theme": "dark", "ExportDate/@by": "me", "ExportDate/Why": #"{"attributes":{},"element":"Why"}"#,
        "HKCharacteristicTypeIdentifierBloodType": "A",
        "Me/Future": #"{"attributes":{"n":"1"},"children":[{"attributes":{},"element":"Deep"}],"element":"Future"}"#,
        "Me/Future#2": #"{"attributes":{},"element":"Future"}"#,
      ])
    #expect(reading.report.skipped.isEmpty)
    #expect(reading.report.remarks["Me/Future is unknown"]?.count == 2)
    #expect(reading.report.remarks["HealthData with an unknown attribute theme"]?.count == 1)
    // So that an older export does not take a newer one's place.
    #expect(reading.readings.allSatisfy { $0.created == reading.report.exportDate })
  }

  @Test func aDaysSummaryKeepsWhatIsInIt() throws {
    let reading = try Reading(
      ExportText(
        #"<ActivitySummary dateComponents="2017-09-25" activeEnergyBurned="1"><Ring n="1"><Deep/></Ring>"#
          + ExportText.metadata("k", "v") + "</ActivitySummary>",
        #"<ActivitySummary dateComponents="2017-09-26"></ActivitySummary>"#))
    #expect(
      reading.readings.map(\.metadata) == [
        [
          "k": "v",
          "hpeer.element.Ring":
            #"{"attributes":{"n":"1"},"children":[{"attributes":{},"element":"Deep"}],"element":"Ring"}"#,
        ], [:],
      ])
    #expect(reading.report.elements["ActivitySummary"] == 2)
    #expect(reading.report.skipped.isEmpty)
  }

  /// Records in a summary without a closing tag are records, and equal records must remain distinguishable.
  @Test func aSummaryThatIsNotClosedHidesNoEquals() throws {
    for day in ["2017-09-25", "someday"] {
      let reading = try Reading(
        ExportText(
          #"<ActivitySummary dateComponents="\#(day)"><MetadataEntry key="k" value="v">"#,
          ExportText.record(value: "1"), ExportText.record(value: "2")))
      let records = reading.samples.filter { $0.payload.kind == "quantity" }
      #expect(records.count == 2)
      #expect(Set(records.map(\.uuid)).count == 2)
    }
  }

  @Test func aFloodOfThemIsBounded() throws {
    let many = String(repeating: "<F><F/></F>", count: 20_000)
    let large = #"<F a="\#(String(repeating: "x", count: 300_000))"/>"#
    let deep = String(repeating: "<F>", count: 90) + String(repeating: "</F>", count: 90)
    let reading = try Reading(
      ExportText(
        ExportText.record(children: "<G>\(many)</G>"), ExportText.record(at: 1, children: large),
        ExportText.record(at: 2, children: deep), ExportText.record(at: 3, children: many)))
    #expect(reading.samples.count == 4)
    for sample in reading.samples {
      #expect(MetadataText.encode(sample.metadata).utf8.count < 3 << 20)
      #expect(try JSONDecoder().decode(Sample.self, from: JSONEncoder().encode(sample)) == sample)
    }
    #expect(!reading.report.skipped.isEmpty)
  }
}
