import Foundation
import HealthModel
import Testing

@testable import HealthFormats

@Suite struct SurveyTests {
  @Test func itSaysWhatIsInTheFile() throws {
    let reading = try Reading(StandardExport.text)
    let survey = reading.survey
    #expect(survey.records == reading.report.records)
    #expect(
      survey.elements
        == ["ExportDate": 1, "Me": 1, "Correlation": 1, "Workout": 1, "ClinicalRecord": 1, "ActivitySummary": 1])
    #expect(survey.characteristics == ["HKCharacteristicTypeIdentifierBloodType": "HKBloodTypeABPositive"])
    #expect(survey.exportDate == reading.report.exportDate)
    #expect(survey.locale == "en_DE")
    #expect(survey.version == 14)
    #expect(survey.utcOffset == 7200)
    #expect(survey.isComplete)
    #expect(survey.end == nil)
    #expect(survey.xmlBytes == Int64(StandardExport.text.utf8.count))
    #expect(Set(survey.sources.keys) == ["Robin’s\u{A0}Watch", "Watch", "Cuff & Co", "Clinic"])
  }

  @Test func chunksDoNotMatter() throws {
    let export = AppleHealthExport(Array(StandardExport.text.utf8))
    let whole = try export.survey()
    for chunkSize in [1, 2, 3, 7, 4096] {
      let survey = try export.survey(chunkSize: chunkSize)
      #expect(survey.records == whole.records)
      #expect(survey.elements == whole.elements)
      #expect(survey.sources == whole.sources)
      #expect(survey.exportDate == whole.exportDate)
    }
  }

  @Test func aCutIsWhereTheReadingFindsIt() throws {
    let text = String(StandardExport.text.dropLast(400))
    let reading = try Reading(text)
    #expect(!reading.survey.isComplete)
    #expect(reading.survey.end == reading.report.end)
  }

  @Test(arguments: [10_000, 7], [1 << 16, 9])
  func aFileThatIsCutOffSaysWhatCameLast(batchSize: Int, chunkSize: Int) throws {
    let text = ExportText((0..<20).map { ExportText.record(at: $0) }).text
    let cut = try #require(text.range(of: ExportText.date(15))).lowerBound
    let report = try Reading(bytes: Array(text[..<cut].utf8), batchSize: batchSize, chunkSize: chunkSize).report
    #expect(
      report.last
        == .init(type: SampleType(ExportText.heartRate), start: Timestamp(seconds: ExportText.start.seconds + 14)))
    #expect(report.end?.line == text[..<cut].utf8.count { $0 == 0x0A } + 1)
    #expect(try Reading(text).report.last == nil)
  }

  /// The kind of an element determines what a missing closing tag closes, and so the parents of later elements.
  @Test(arguments: [
    #"<Workout startDate="soon"><WorkoutRoute>"#, #"<Workout startDate="soon"><HealthData>"#,
    #"<Correlation type="HKCorrelationTypeIdentifierFood" startDate="soon">"#, #"<Record startDate="soon">"#,
    #"<Record type="HKQuantityTypeIdentifierHeartRate" startDate="soon"><MetadataEntry key="a" value="b">"#,
    #"<MetadataEntry key="a" value="b">"#, #"<Audiogram startDate="soon"><Future>"#,
    #"<Future startDate="2024-06-15 10:30:00 &#43;0200"><HealthData>"#, #"<ActivitySummary dateComponents="x">"#,
  ])
  func bothPassesAgreeBehindAnElementThatIsNotClosed(_ opening: String) throws {
    let records = [ExportText.record(at: 1), ExportText.record(at: 2), ExportText.record(at: 2)]
    let reading = try Reading(ExportText([opening] + records))
    #expect(reading.survey.isComplete == reading.report.isComplete)
    #expect(reading.survey.records == reading.report.records)
    #expect(reading.uuids.count == reading.samples.count)
  }

  @Test func bothPassesAgreeOnAnyNesting() throws {
    let date = #"startDate="\#(ExportText.date(0))""#
    let openings = [
      #"<Record startDate="soon">"#, #"<Correlation type="a" \#(date)>"#, "<Correlation>", "<Workout \(date)>",
      "<Workout>", "<WorkoutRoute \(date)>", #"<Location latitude="1" longitude="2">"#, "<Location>",
      #"<MetadataEntry key="a" value="b">"#, "<HeartRateVariabilityMetadataList>",
      #"<InstantaneousBeatsPerMinute bpm="60" time="1:00:00.00">"#, "<Audiogram \(date)>", "<Audiogram>",
      #"<ActivitySummary dateComponents="2024-06-15">"#, "<ActivitySummary>", "<ExportDate>", "<Me>",
      "<Future \(date)>",
      "<Future>", "<HealthData>",
      #"<Workout \#(date)><WorkoutRoute \#(date)><Location latitude="1" longitude="2"><Future>"#,
      #"<MetadataEntry key="a"><Future>"#,
    ]
    let closings = Set(openings.map { "</\($0.dropFirst().prefix { $0 != " " && $0 != ">" })>" }).sorted()
    let records = [1, 1, 2, 3].enumerated().map { ExportText.record(at: $1, value: "\($0)") }
    let open = records.map { $0.replacing("/>", with: ">") }
    var generator = SeededGenerator(5)
    for _ in 0..<1500 {
      let elements = (0..<Int.random(in: 2...25, using: &generator)).compactMap { _ in
        [openings, openings, closings, records, open].randomElement(using: &generator)?.randomElement(using: &generator)
      }
      let reading = try Reading(ExportText(elements))
      try #require(reading.survey.isComplete == reading.report.isComplete, "\(elements)")
      // Of a file that is cut off, the last record is not read.
      guard reading.report.isComplete else { continue }
      try #require(reading.survey.records == reading.report.records, "\(elements)")
      // A member may have the identity of a record that says more.
      if reading.nestedCount == 0 { try #require(Set(reading.samples).count == reading.uuids.count, "\(elements)") }
    }
  }

  @Test func aPointThatIsNotClosedHidesNoOtherPoint() throws {
    let route = (0..<3).map { #"<Location latitude="\#($0)" longitude="7">"# }.joined()
    let workout =
      #"<Workout \#(#"startDate="\#(ExportText.date(0))""#)><WorkoutRoute>\#(route)</WorkoutRoute></Workout>"#
    let reading = try Reading(ExportText(workout, ExportText.record(at: 1)))
    let points = reading.samples.compactMap { sample -> [Double]? in
      if case .workoutRoute(let route) = sample.payload { route.points.map(\.latitude) } else { nil }
    }
    #expect(points == [[0, 1, 2]])
    #expect(reading.recordCount == 1)
  }

  @Test(arguments: [
    #"<Record type="HKQuantityTypeIdentifierHeartRate" startDate="soon">"#, #"<MetadataEntry key="a">"#,
  ])
  func whatIsNotReadAndNotClosedHidesNothing(_ opening: String) throws {
    #expect(try Reading(ExportText([opening, ExportText.record(at: 1), ExportText.record(at: 2)])).samples.count == 2)
  }

  @Test func keysOfASourceAreSpreadEvenly() throws {
    let records = (0..<5000).map { ExportText.record(at: $0, source: $0 % 50 == 0 ? "Scale" : "Watch") }
    let sources = try Reading(ExportText(records)).survey.sources
    let watch = try #require(sources["Watch"])
    #expect((128...256).contains(watch.count))
    #expect(sources["Scale"]?.count == 100)
    let seconds = watch.map { $0.key.start - ExportText.start.seconds }
    let steps = zip(seconds, seconds.dropFirst()).map { $1 - $0 }
    #expect(steps.allSatisfy { (10...60).contains($0) })
    #expect(try #require(seconds.last) > 4900)
    #expect(watch.first?.key.kind == "record")
    #expect(watch.first?.key.type.rawValue == ExportText.heartRate)
    #expect(watch.first?.key.source == "Watch")
    #expect(watch.first?.value == Quantity(72, "count/min"))
    #expect(watch.allSatisfy { !$0.isShared })
  }

  @Test(arguments: [1 << 16, 5])
  func sampledRecordsSayTheirNumberAndWhetherTheyAreAlone(chunkSize: Int) throws {
    let awake = "HKCategoryValueSleepAnalysisAwake"
    let records = [
      ExportText.record(at: 1, source: "Watch"), ExportText.record(at: 1, value: "73", source: "Phone"),
      ExportText.record(ExportText.sleep, at: 2, value: awake, unit: nil, source: "Phone"),
      ExportText.record(at: 3, value: "much", source: "Phone"), ExportText.record(at: 4, value: nil, source: "Phone"),
    ]
    let sources = try Reading(ExportText(records), chunkSize: chunkSize).survey.sources
    #expect(sources["Watch"]?.map(\.isShared) == [true])
    #expect(sources["Phone"]?.map(\.isShared) == [true, false, false, false])
    #expect(sources["Phone"]?.map(\.value) == [Quantity(73, "count/min"), Quantity(2, ""), nil, nil])
  }

  @Test func aSourceMayHaveAnotherNameInIdentities() throws {
    func read(_ source: String, _ names: [String: String], chunkSize: Int) throws -> [Sample] {
      let records = (0..<9).map { ExportText.record(at: $0 / 2, value: "6\($0)", source: source) }
      let workout = #"<Workout workoutActivityType="x" sourceName="\#(source)" startDate="\#(ExportText.date(0))"/>"#
      let export = AppleHealthExport(Array(ExportText(records + [workout]).text.utf8))
      var samples: [Sample] = []
      _ = try export.read(
        try export.survey(chunkSize: chunkSize), batchSize: 3, chunkSize: chunkSize, identityNames: names
      ) { samples += try $0.samples() }
      return samples
    }
    let before = try read("Watch", [:], chunkSize: 1 << 16)
    for chunkSize in [1 << 16, 5] {
      let after = try read("Renamed", ["Renamed": "Watch"], chunkSize: chunkSize)
      #expect(Set(after.map(\.uuid)) == Set(before.map(\.uuid)))
      #expect(after.allSatisfy { $0.source.name == "Renamed" })
    }
  }

  @Test func twoSourcesThatAreOneToIdentitiesKeepBothSamples() throws {
    let records = ["Old", "New"].map { ExportText.record(source: $0) }
    let export = AppleHealthExport(Array(ExportText(records).text.utf8))
    var samples: [Sample] = []
    _ = try export.read(try export.survey(), identityNames: ["New": "Old"]) { samples += try $0.samples() }
    #expect(Set(samples.map(\.uuid)).count == 2)
  }

  @Test func equalKeysComeAsRankedGroups() throws {
    let records = ["10", "9", "100"].map { ExportText.record(value: $0) } + [ExportText.record(at: 5)]
    let export = AppleHealthExport(Array(ExportText(records).text.utf8))
    var groups: [TwinGroup] = []
    var rows = 0
    _ = try export.read(try export.survey()) { batch in
      groups += batch.groups
      rows += batch.changes.samples.count
    }
    #expect(rows == 1)
    let group = try #require(groups.first)
    #expect(groups.count == 1)
    #expect(group.key.kind == "record")
    #expect(group.key.source == "Watch")
    #expect(group.samples.map { Double($0.canonicalValue) } == [9, 10, 100])
    #expect(group.byRank().map(\.uuid) == (0..<3).map { group.key.uuid(ordinal: $0) })
  }
}
