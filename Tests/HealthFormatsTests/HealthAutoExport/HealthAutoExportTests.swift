import Foundation
import HealthModel
import Testing

@testable import HealthFormats

@Suite struct HealthAutoExportTests {
  /// Returns a file with a single metric.
  private func metric(_ name: String, units: String = "count", _ points: String...) -> String {
    #"{"data":{"metrics":[{"name":"\#(name)","units":"\#(units)","data":[\#(points.joined(separator: ","))]}]}}"#
  }

  private func workout(_ members: String) -> String { #"{"data":{"workouts":[{\#(members)}]}}"# }

  // MARK: Metrics

  @Test func aDayIsAQuantityOfATypeOfItsOwn() throws {
    let reading = try SampleReading(
      autoExport: metric("step_count", #"{"date":"2024-06-15 00:00:00 +0200","qty":8042,"source":"Watch|iPhone"}"#))
    #expect(reading.samples.isEmpty)
    let sample = try #require(reading.readings.first)
    #expect(sample.type == SampleType("hae.step_count"))
    #expect(sample.payload == .quantity(Quantity(8042, "count")))
    #expect(sample.start.iso8601 == "2024-06-14T22:00:00Z")
    #expect(sample.end.iso8601 == "2024-06-15T22:00:00Z")
    #expect(sample.created == sample.start)
    #expect(sample.metadata == ["hpeer.aggregation": "day"])
    #expect(reading.report.isComplete)
    #expect(reading.report.records == ["hae.step_count": 1])
  }

  @Test func theOrderOfSourcesMeansNothing() throws {
    func readings(_ source: String) throws -> Sample {
      let point = #"{"date":"2024-06-15 00:00:00 +0200","qty":1,"source":\#(source)}"#
      return try #require(try SampleReading(autoExport: metric("step_count", point)).readings.first)
    }
    let one = try readings("\"AutoSleep|Nam\u{2019}s\u{A0}Watch|iPhone\"")
    #expect(try readings("\"iPhone|AutoSleep|Nam\u{2019}s\u{A0}Watch\"") == one)
    #expect(one.source.name == "AutoSleep|Nam\u{2019}s\u{A0}Watch|iPhone")
    #expect(try readings("null") == readings("\"\""))
    #expect(try readings("null").source.name == "Health Auto Export")
    #expect(try readings("null").uuid != one.uuid)
  }

  @Test func heartRatesKeepMinimumAverageAndMaximum() throws {
    let reading = try SampleReading(
      autoExport: metric(
        "heart_rate", units: "bpm",
        #"{"date":"2024-06-15 00:00:00 +0200","Min":50,"Avg":61.5,"Max":120,"source":"Watch"}"#))
    #expect(
      reading.readings.map(\.payload) == [
        .unknown(
          kind: "healthAutoExport",
          content: .object([
            "Min": .integer(50), "Avg": .number(61.5), "Max": .integer(120), "units": .string("bpm"),
          ]))
      ])
  }

  @Test func whatIsSaidBesideAQuantityIsMetadata() throws {
    let reading = try SampleReading(
      autoExport: metric(
        "blood_glucose", units: "mg/dL", #"{"date":"2024-06-15 08:00:00 +0200","qty":90,"mealTime":"Before Meal"}"#))
    let sample = try #require(reading.readings.first)
    #expect(sample.payload == .quantity(Quantity(90, "mg/dL")))
    #expect(sample.metadata == ["hae.mealTime": "Before Meal", "hpeer.aggregation": "hour"])
  }

  @Test func pointsOfAFileThatIsNotAggregatedAreNeverReplaced() throws {
    let text = metric(
      "dietary_water", #"{"date":"2024-06-15 08:00:03 +0200","qty":200}"#,
      #"{"date":"2024-06-15 08:00:03 +0200","qty":300}"#)
    let reading = try SampleReading(autoExport: text)
    #expect(reading.readings.isEmpty)
    #expect(Set(reading.samples.map(\.uuid)).count == 2)
    #expect(reading.samples.allSatisfy { $0.created == nil && $0.start == $0.end })
    #expect(try SampleReading(autoExport: text).samples == reading.samples)
  }

  @Test func theAppsOldSpellingIsTheNewOne() throws {
    let point = #"{"date":"2024-06-15 00:00:00 +0200","qty":3}"#
    let old = try SampleReading(autoExport: metric("monosaturated_fat", units: "g", point))
    #expect(old.readings == (try SampleReading(autoExport: metric("monounsaturated_fat", units: "g", point))).readings)
  }

  @Test func unitsStayAsTheyAreGiven() throws {
    let point = #"{"date":"2024-06-15 00:00:00 +0200","qty":3}"#
    let reading = try SampleReading(autoExport: metric("step_count", units: "步", point))
    #expect(reading.readings.map(\.payload) == [.quantity(Quantity(3, "步"))])
  }

  @Test func theNameMayStandAfterThePoints() throws {
    let text =
      #"{"data":{"metrics":[{"data":[{"qty":1,"date":"2024-06-15 00:00:00 +0200"}],"units":"g","name":"fiber"}]}}"#
    #expect(try SampleReading(autoExport: text).readings.map(\.type) == [SampleType("hae.fiber")])
  }

  @Test func sleepInEveryShape() throws {
    let night = #"""
      {"date":"2023-01-31 02:44:02 +0800","sleepStart":"2023-01-31 00:23:47 +0800","sleepEnd":"2023-01-31 08:39:12 +0800",
       "asleep":0,"core":3.3,"deep":0.86,"rem":1.26,"awake":0.12,"inBed":8.1,"source":"Watch|iPhone"}
      """#
    let older = #"""
      {"date":"2021-12-18 09:03:36 +0800","asleep":6.1,"sleepStart":"2021-12-18 02:21:06 +0800","sleepEnd":"2021-12-18 08:57:06 +0800",
       "sleepSource":"Watch","inBed":6.8,"inBedStart":"2021-12-18 02:12:50 +0800","inBedEnd":"2021-12-18 09:04:45 +0800","inBedSource":"iPhone"}
      """#
    let segment = #"""
      {"startDate":"2021-12-18 02:21:06 +0800","endDate":"2021-12-18 08:57:06 +0800","qty":6.1,"value":"Core","source":"Watch","date":null}
      """#
    let bed = segment.replacing("Core", with: "In Bed")
    let reading = try SampleReading(autoExport: metric("sleep_analysis", units: "hr", night, older, segment, bed))
    #expect(reading.readings.map(\.source.name) == ["Watch|iPhone", "Watch|iPhone"])
    #expect(reading.readings.allSatisfy { $0.start == $0.end && $0.metadata["hpeer.aggregation"] == "night" })
    #expect(reading.samples.map(\.metadata) == [["hae.value": "Core"], ["hae.value": "In Bed"]])
    #expect(Set(reading.samples.map(\.uuid)).count == 2)
    // A bare day stands for a night, too.
    let bare = try SampleReading(
      autoExport: metric("sleep_analysis", night.replacing("2023-01-31 02:44:02 +0800", with: "2026-09-07")))
    #expect(bare.readings.map(\.start.iso8601) == ["2026-09-07T00:00:00Z"])
    #expect(bare.report.remarks["date without an offset"]?.count == 1)
  }

  @Test func asOfIsTheNewestDateUnlessTold() throws {
    let text = metric(
      "step_count", #"{"date":"2024-06-17 00:00:00 +0000","qty":1}"#, #"{"date":"2024-06-15 00:00:00 +0000","qty":1}"#)
    #expect(
      try SampleReading(autoExport: text).readings.map(\.created?.iso8601)
        == Array(repeating: "2024-06-17T00:00:00Z", count: 2))
    let told = Timestamp(seconds: 1_800_000_000)
    #expect(try SampleReading(autoExport: text, asOf: told).readings.map(\.created) == [told, told])
  }

  // MARK: Workouts

  private static let running = """
    "id":"5F1C2B5B-8E5F-4A38-9C5E-1E4D6B7A0001","name":"Outdoor Run","start":"2024-06-15 18:00:00 +0200",
    "end":"2024-06-15 18:40:00 +0200","duration":2390.5,"isIndoor":false,"distance":{"qty":7.2,"units":"km"},
    "heartRate":{"min":{"qty":90,"units":"bpm"},"avg":{"qty":140,"units":"bpm"},"max":171},"intesity":{"qty":8,"units":"kcal/hr·kg"},
    "activeEnergyBurned":{"qty":%E,"units":"%U"},
    "activeEnergy":[{"date":"2024-06-15 18:00:00 +0200","qty":100,"units":"kcal"},{"date":"2024-06-15 18:01:00 +0200","qty":79.9,"units":"kcal"}]
    """

  @Test func aWorkoutWithAUUIDIsHealthKits() throws {
    let text = workout(Self.running.replacing("%E", with: "752.7").replacing("%U", with: "kJ"))
    let reading = try SampleReading(autoExport: text)
    let sample = try #require(reading.samples.first)
    #expect(sample.uuid.uuidString == "5F1C2B5B-8E5F-4A38-9C5E-1E4D6B7A0001")
    #expect(sample.type == .workout)
    guard case .workout(let workout) = sample.payload else {
      Issue.record("\(sample.payload)")
      return
    }
    #expect(workout.activityType.exported == "HKWorkoutActivityTypeRunning")
    #expect(workout.duration == 2390.5)
    #expect(workout.totals["totalEnergyBurned"] == Quantity(752.7, "kJ"))
    #expect(workout.totals["totalDistance"] == Quantity(7.2, "km"))
    #expect(workout.statistics.map(\.maximum) == [171])
    #expect(sample.metadata["HKIndoorWorkout"] == .bool(false))
    #expect(reading.report.remarks.isEmpty)
    // All of it, with the slip mended.
    let whole = try #require(reading.readings.first)
    #expect(whole.type == SampleType("hae.workout"))
    guard case .unknown(_, .object(let members)) = whole.payload else {
      Issue.record("\(whole.payload)")
      return
    }
    #expect(members["intensity"] != nil && members["intesity"] == nil)
    #expect(members.count == 11)
  }

  @Test func swappedUnitsAreNoticed() throws {
    let text = workout(Self.running.replacing("%E", with: "43").replacing("%U", with: "kJ"))
      .replacing("79.9", with: "79.912")
    let reading = try SampleReading(autoExport: text)
    #expect(reading.report.remarks.keys.contains { $0.contains("swapped") })
    guard case .workout(let workout)? = reading.samples.first?.payload else {
      Issue.record("no workout")
      return
    }
    #expect(workout.totals["totalEnergyBurned"] == Quantity(43, "kcal"))
  }

  @Test func aWorkoutOfVersion1HasNoSampleInHealthKit() throws {
    let members = #"""
      "name":"Entraînement","start":"2021-12-24 08:02:43 +0800","end":"2021-12-24 08:21:53 +0800","stepCount":{"qty":908,"units":"steps"},
      "elevation":{"ascent":16.4,"descent":0,"units":"m"},"route":[{"lat":38.9,"lon":-77.03,"altitude":8,"timestamp":"2021-12-24 08:04:45 +0800"}]
      """#
    // Beside `data`, where version 1 has them too.
    for text in [workout(members), #"{"data":{"metrics":[]},"workouts":[{\#(members)}]}"#] {
      let reading = try SampleReading(autoExport: text)
      #expect(reading.samples.isEmpty)
      #expect(reading.readings.map(\.type) == [SampleType("hae.workout")])
    }
  }

  // MARK: Other lists

  @Test func otherListsAreKeptWhole() throws {
    let text = #"""
      {"data":{"stateOfMind":[{"id":"5F1C2B5B-8E5F-4A38-9C5E-1E4D6B7A0002","start":"2024-06-15T08:00:00Z","end":"2024-06-15T08:00:00Z","valence":0.5,"labels":["calm"]}],
       "ecg":[{"start":"2024-06-15 08:00:00 +0200","end":"2024-06-15 08:00:30 +0200","classification":"Sinus Rhythm","voltageMeasurements":[{"voltage":1.5}],"source":"Watch"}],
       "heartRateNotifications":[{"start":"2024-06-15 08:00:00 +0200","end":"2024-06-15 08:10:00 +0200","threshold":120}],
       "newList":[{"date":"2024-06-15 08:00:00 +0200"},{"date":"some day"},7],"version":3}}
      """#
    let reading = try SampleReading(autoExport: text)
    #expect(
      reading.samples.map(\.type.rawValue) == [
        "hae.state_of_mind", "hae.ecg", "hae.heart_rate_notifications", "hae.new_list",
      ])
    #expect(reading.samples[0].uuid.uuidString == "5F1C2B5B-8E5F-4A38-9C5E-1E4D6B7A0002")
    #expect(reading.samples[1].source.name == "Watch")
    #expect(
      Set(reading.report.skipped.keys) == [
        "newList: an element without a readable date", "newList: an element that is no object", "version is unknown",
      ])
  }

  private func list(_ name: String, _ members: String) throws -> [Sample] {
    try SampleReading(autoExport: #"{"data":{"\#(name)":[{\#(members)}]}}"#).samples
  }

  @Test("a state of mind and a dose are HealthKit's where they say all that it needs")
  func statesOfMindAndDoses() throws {
    let mind = try list(
      "stateOfMind",
      #"""
      "id":"5F1C2B5B-8E5F-4A38-9C5E-1E4D6B7A0002","start":"2024-06-15T08:00:00Z","end":"2024-06-15T08:00:00Z",
      "kind":"daily_mood","valence":0.5,"labels":["calm"],"associations":[],"valenceClassification":5
      """#)
    #expect(mind.map(\.type) == [SampleType("HKDataTypeStateOfMind")])
    #expect(mind.first?.uuid.uuidString == "5F1C2B5B-8E5F-4A38-9C5E-1E4D6B7A0002")
    #expect(
      mind.first?.payload
        == .unknown(
          kind: "stateOfMind",
          content: .object([
            "kind": .string("daily_mood"), "valence": .number(0.5), "labels": .array([.string("calm")]),
            "associations": .array([]), "valenceClassification": .integer(5),
          ])))
    let dose = try list(
      "medications",
      #""id":"5F1C2B5B-8E5F-4A38-9C5E-1E4D6B7A0003","displayText":"Ibuprofen 400 mg","start":"2024-06-15 08:00:00 +0200","status":"Taken","dosage":1,"form":"Tablet""#
    )
    #expect(dose.map(\.type) == [SampleType("HKMedicationDoseEventTypeIdentifierMedicationDoseEvent")])
    #expect(dose.first?.payload.kind == "medicationDoseEvent")
    let planned = try list(
      "medications", #""displayText":"Ibuprofen 400 mg","start":"2024-06-15 08:00:00 +0200","status":"Not Logged""#)
    #expect(planned.map(\.type) == [SampleType("hae.medications")])
  }

  @Test(
    "a symptom is one of HealthKit's, in the words of any phone that is known",
    arguments: [
      ("Headache", "Severe", 4), ("headache", "Stark", 4), ("Headache", "Modérée", 3), ("Headache", "なし", 1),
      ("Headache", "轻微", 2), ("Headache", "보통", 3), ("Headache", "Present", 0),
    ])
  func symptoms(name: String, severity: String, value: Int64) throws {
    let found = try list(
      "symptoms",
      #"""
      "start":"2024-06-15 08:00:00 +0200","end":"2024-06-15 09:00:00 +0200","name":"\#(name)","severity":"\#(severity)",
      "userEntered":true,"source":"Health"
      """#)
    #expect(found.map(\.type) == [SampleType("HKCategoryTypeIdentifierHeadache")])
    #expect(found.first?.payload == .category(CategoryValue(value: value)))
    #expect(found.first?.metadata == ["HKWasUserEntered": "1"] && found.first?.source.name == "Health")
  }

  @Test("what is not known of a symptom leaves it whole", arguments: [("Headache", "Loud"), ("Hiccups", "Mild")])
  func unknownSymptoms(name: String, severity: String) throws {
    let found = try list(
      "symptoms", #""start":"2024-06-15 08:00:00 +0200","name":"\#(name)","severity":"\#(severity)""#)
    #expect(found.map(\.type) == [SampleType("hae.symptoms")])
  }

  @Test("an electrocardiogram has its voltages in the order of their dates, and ends with the last")
  func electrocardiograms() throws {
    func ecg(_ count: Int) throws -> Sample? {
      try list(
        "ecg",
        #"""
        "start":"2024-06-15 08:00:00 +0200","end":"2024-06-15 08:00:31 +0200","classification":"Sinus Rhythm",
        "averageHeartRate":61,"samplingFrequency":2,"numberOfVoltageMeasurements":\#(count),"source":"Watch",
        "voltageMeasurements":[{"date":1718431201.0,"voltage":-3,"units":"mcV"},
        {"date":1718431200.0,"voltage":1.5,"units":"mcV"},{"date":1718431200.5,"voltage":2,"units":"mcV"}]
        """#
      ).first
    }
    let found = try #require(try ecg(3))
    #expect(
      found.payload
        == .electrocardiogram(
          Electrocardiogram(
            classification: "Sinus Rhythm", averageHeartRate: 61, samplingFrequency: 2, unit: "mcV",
            voltages: [1.5, 2, -3])))
    #expect(found.end.microseconds - found.start.microseconds == 1_500_000)
    // Some are missing.
    #expect(try ecg(4)?.type == SampleType("hae.ecg"))
  }

  // MARK: Bad files

  @Test func nothingInIt() throws {
    let reading = try SampleReading(autoExport: #"{"data": {}}"#)
    #expect(reading.report.isComplete)
    #expect(reading.samples.isEmpty && reading.readings.isEmpty)
  }

  @Test func whatCannotBeReadIsCounted() throws {
    let text = metric("step_count", #"{"date":"some day","qty":1}"#, "3", #"{"date":"2024-06-15 00:00:00 +0200"}"#)
    let reading = try SampleReading(autoExport: text)
    #expect(reading.readings.isEmpty)
    #expect(reading.report.skipped.count == 3)
    #expect(reading.report.skipped.values.allSatisfy { $0.lines == [1] })
    let nameless = try SampleReading(autoExport: #"{"data":{"metrics":[{"data":[{"date":"2024-06-15","qty":1}]}]}}"#)
    #expect(nameless.report.skipped.keys.first == "point of a metric without a name")
  }

  @Test func cutAnywhereGivesWhatIsWhole() throws {
    let text = metric(
      "step_count", #"{"date":"2024-06-15 00:00:00 +0200","qty":1}"#, #"{"date":"2024-06-16 00:00:00 +0200","qty":2}"#)
    for length in 1..<text.utf8.count {
      let cut = String(decoding: text.utf8.prefix(length), as: UTF8.self)
      let reading = try SampleReading(autoExport: cut, chunkSize: 1 + length % 50)
      #expect(!reading.report.isComplete)
      #expect(reading.readings.count <= 2)
    }
  }

  @Test func nonsenseHasAPlace() {
    let text = "{\"data\":\n {\"metrics\":[{\"name\":\"x\",\"data\":[{\"date\":tomorrow}]}]}}"
    #expect(
      throws: SampleFileError.malformed(
        path: "memory", detail: "a value is expected", at: TextPosition(line: 2, column: 42, offset: 50))
    ) { try SampleReading(autoExport: text) }
  }
}
