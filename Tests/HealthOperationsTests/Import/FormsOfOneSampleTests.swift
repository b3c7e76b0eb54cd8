import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import TestSupport
import Testing

/// Tests that each rule by which two samples are the same holds in both directions: whichever form of a sample comes
/// first, the other adds nothing, and if the first was deleted, the other doesn't restore it.
@Suite struct FormsOfOneSampleTests {
  /// A file with the same few samples as the other forms, in more or less detail.
  enum Form: String, CaseIterable, Sendable {
    /// An export with its folders.
    case whole
    /// An export's XML alone.
    case bare
    /// An export with its tracks but without its clinical records.
    case tracks
    /// A later export from the same phone, with its folders.
    case later
    // What hpeer writes of a record that has the whole export, and of one that has the bare one.
    case ndjson, json, csv, archive, bareNDJSON
  }

  struct Pair: Sendable, CustomTestStringConvertible {
    var first: Form
    var second: Form
    var testDescription: String { "\(first) then \(second)" }

    static let all = Form.allCases.flatMap { first in
      Form.allCases.filter { $0 != first }.map { Pair(first: first, second: $0) }
    }
  }

  @Test("the second form of a sample adds none, and what is there doesn't depend on the order", arguments: Pair.all)
  func sameEitherWay(pair: Pair) async throws {
    let (one, other) = (try TestHome(), try TestHome())
    try await give(pair.first, to: one)
    let before = try await samples(one).map(Self.name).sorted()
    try await give(pair.second, to: one)
    #expect(try await samples(one).map(Self.name).sorted() == before)
    try await give(pair.second, to: other)
    try await give(pair.first, to: other)
    let (here, there) = (try await samples(one), try await samples(other))
    for (sample, counterpart) in zip(here, there) { #expect(Self.content(sample) == Self.content(counterpart)) }
    #expect(here.count == there.count)
  }

  @Test("what was deleted in one form stays deleted in the other", arguments: Pair.all)
  func deletedStaysDeleted(pair: Pair) async throws {
    let home = try TestHome()
    try await give(pair.first, to: home)
    #expect(try await !samples(home).isEmpty)
    let operation = DeleteOperation(SampleFilter())
    try await operation.run(try await operation.plan(in: home.store), in: home.store)
    #expect(try await samples(home).isEmpty)
    try await give(pair.second, to: home)
    #expect(try await samples(home).map(Self.name) == [])
  }

  @Test(
    "an export that says the same in another form takes nothing away as a snapshot",
    arguments: Pair.all.filter { [.whole, .bare, .tracks, .later].contains($0.second) })
  func snapshotsKeepWhatTheyHave(pair: Pair) async throws {
    let home = try TestHome()
    try await give(pair.first, to: home)
    let before = try await samples(home).map(Self.name).sorted()
    var options = ImportOptions()
    options.isSnapshot = true
    try await give(pair.second, to: home, options)
    #expect(try await samples(home).map(Self.name).sorted() == before)
  }

  // MARK: Files

  private func samples(_ home: TestHome) async throws -> [Sample] {
    var samples: [Sample] = []
    for entry in try await home.store.samples.typeCounts() {
      samples += try await home.store.samples.page(of: entry.type, limit: .max)
        .sorted { ($0.start, $0.uuid.uuidString) < ($1.start, $1.uuid.uuidString) }
    }
    return samples
  }

  /// The sample without the date at which it was written: a later export that says the same again changes nothing.
  private static func content(_ sample: Sample) -> Sample {
    var sample = sample
    sample.created = nil
    return sample
  }

  private static func name(_ sample: Sample) -> String { "\(sample.type.shortName) at \(sample.start.iso8601)" }

  private func give(_ form: Form, to home: TestHome, _ options: ImportOptions = ImportOptions()) async throws {
    _ = try await home.importer(try await path(form, home), options).run(into: home.store)
  }

  private func path(_ form: Form, _ home: TestHome) async throws -> String {
    switch form {
    case .whole: try export(home, "whole", exported: "2024-06-20", tracks: true, clinicalRecords: true)
    case .bare: try export(home, "bare", exported: "2024-06-20", tracks: false, clinicalRecords: false)
    case .tracks: try export(home, "tracks", exported: "2024-06-20", tracks: true, clinicalRecords: false)
    case .later: try export(home, "later", exported: "2024-06-27", tracks: true, clinicalRecords: true)
    case .ndjson: try await written(.ndjson, of: .whole, for: home)
    case .json: try await written(.json, of: .whole, for: home)
    case .csv: try await written(.csv, of: .whole, for: home)
    case .archive: try await written(.appleArchive, of: .whole, for: home)
    case .bareNDJSON: try await written(.ndjson, of: .bare, for: home)
    }
  }

  /// Returns the path of a file that hpeer exports from a record to which only a given form was imported.
  private func written(_ format: ExportFormat, of form: Form, for home: TestHome) async throws -> String {
    let path = home.directory.path("written-\(form).\(format.suffix)")
    if FileManager.default.fileExists(atPath: path) { return path }
    let other = try TestHome()
    try await give(form, to: other)
    _ = try await ExportOperation(format, to: .file(path: path, replaces: false)).run(from: other.store)
    return path
  }

  private func export(
    _ home: TestHome, _ name: String, exported: String, tracks: Bool, clinicalRecords: Bool
  ) throws -> String {
    let folder = home.directory.path(name)
    func write(_ path: String, _ text: String) throws {
      let path = "\(folder)/\(path)"
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(filePath: path))
    }
    try write("export.xml", Self.xml(exported: exported))
    if tracks { try write("workout-routes/route_2024-06-15_10.00am.gpx", Self.track) }
    if clinicalRecords { try write("clinical-records/Observation-A1.json", Self.observation) }
    return folder
  }

  private static func xml(exported: String) -> String {
    func record(_ type: String, _ minute: Int, _ rest: String) -> String {
      let date = "2024-06-15 10:\(String(format: "%02d", minute)):00 +0200"
      return
        #"<Record type="\#(type)" sourceName="Watch" sourceVersion="10.1" creationDate="\#(date)" startDate="\#(date)" endDate="\#(date)" \#(rest)/>"#
    }
    let systolic = record("HKQuantityTypeIdentifierBloodPressureSystolic", 5, #"unit="mmHg" value="120""#)
    let diastolic = record("HKQuantityTypeIdentifierBloodPressureDiastolic", 5, #"unit="mmHg" value="80""#)
    let pressure = "2024-06-15 10:05:00 +0200"
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <HealthData locale="en_DE">
      <ExportDate value="\(exported) 12:00:00 +0200"/>
      <Me HKCharacteristicTypeIdentifierDateOfBirth="1987-03-01"/>
      \(record("HKQuantityTypeIdentifierHeartRate", 1, #"unit="count/min" value="61""#))
      \(record("HKQuantityTypeIdentifierDietaryEnergyConsumed", 2, #"unit="kcal" value="250""#))
      \(record("HKQuantityTypeIdentifierDietaryEnergyConsumed", 2, #"unit="kcal" value="410""#))
      <Correlation type="HKCorrelationTypeIdentifierBloodPressure" sourceName="Watch" sourceVersion="10.1" creationDate="\(pressure)" startDate="\(pressure)" endDate="\(pressure)">
      \(systolic)
      \(diastolic)
      </Correlation>
      \(systolic)
      \(diastolic)
      <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30" durationUnit="min" sourceName="Watch" sourceVersion="10.1" creationDate="2024-06-15 10:31:00 +0200" startDate="2024-06-15 10:00:00 +0200" endDate="2024-06-15 10:30:00 +0200">
      <WorkoutRoute sourceName="Watch" sourceVersion="10.1" creationDate="2024-06-15 10:31:00 +0200" startDate="2024-06-15 10:00:00 +0200" endDate="2024-06-15 10:00:03 +0200">
      <FileReference path="/workout-routes/route_2024-06-15_10.00am.gpx"/>
      </WorkoutRoute>
      </Workout>
      <ActivitySummary dateComponents="2024-06-15" activeEnergyBurned="455.1" activeEnergyBurnedGoal="500" activeEnergyBurnedUnit="kcal" appleExerciseTime="31" appleExerciseTimeGoal="30" appleStandHours="9" appleStandHoursGoal="12"/>
      <ClinicalRecord type="LabResultRecord" identifier="A1" sourceName="Clinic" sourceURL="https://example.org/Observation/A1" fhirVersion="4.0.1" receivedDate="2024-06-15 11:00:00 +0200" resourceFilePath="/clinical-records/Observation-A1.json"/>
      </HealthData>
      """
  }

  /// A route in the Health app's format.
  private static var track: String {
    let points = (0..<4).map { index in
      let time = "2024-06-15T08:00:0\(index)Z"
      return #"<trkpt lon="13.4\#(index)" lat="52.5"><ele>34.5</ele><time>\#(time)</time></trkpt>"#
    }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="Apple Health Export" xmlns="http://www.topografix.com/GPX/1/1">
      <trk><name>Route</name><trkseg>\(points.joined(separator: "\n"))</trkseg></trk>
      </gpx>
      """
  }

  private static let observation =
    #"{"resourceType":"Observation","id":"A1","status":"final","code":{"text":"Glucose"},"effectiveDateTime":"2024-06-14","valueQuantity":{"value":5.5,"unit":"mmol/L"}}"#
}
