import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

@Suite("Files by type and day")
struct HealthPushFolderTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  private func write(_ text: String, to name: String) throws {
    let file = directory.url.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  private func read(repairsUnits: Bool = false) throws -> (samples: [Sample], readings: [Sample], report: ImportReport)
  {
    let folder = try #require(HealthPushFolder(at: directory.path))
    var (samples, readings): ([Sample], [Sample]) = ([], [])
    let report = try folder.read(repairsUnits: repairsUnits) { batch in
      let expander = try ChangeExpander(batch.changes)
      samples += try batch.changes.samples.map(expander.sample)
      readings += batch.readings
    }
    return (samples, readings, report)
  }

  /// Returns a record in HealthPush's format.
  private func record(
    _ identifier: String, _ key: String, _ value: String, _ unit: String, kind: String = "quantity", uuid: String,
    aggregation: String = "raw", more: String = ""
  ) -> String {
    #"{"aggregation":"\#(aggregation)","categoryValue":null,"deleted":false,"endDate":"2026-04-09T12:01:00.000Z","#
      + #""metric":{"hkIdentifier":"\#(identifier)","key":"\#(key)","kind":"\#(kind)"},"schemaVersion":"1.0","#
      + #""source":{"bundleId":"","name":"Watch"},"startDate":"2026-04-09T12:00:00.000Z","tzOffset":"+01:00","#
      + #""unit":"\#(unit)","uuid":"\#(uuid)","value":\#(value)\#(more)}"#
  }

  private let uuids = (0..<6).map { "A1B2C3D4-E5F6-7890-ABCD-EF123456789\($0)" }

  @Test("HealthPush's own records are samples, and their units are repaired where that is asked for")
  func ownRecords() throws {
    let height = record("HKQuantityTypeIdentifierHeight", "height", "180", "m", uuid: uuids[0])
    let oxygen = record("HKQuantityTypeIdentifierOxygenSaturation", "blood_oxygen", "0.97", "fraction", uuid: uuids[1])
    try write(height, to: "v1/height/2026/04/09/data.jsonl")
    try write("[\n\(oxygen)\n]", to: "v1/blood_oxygen/2026/04/09/data.json")
    try write("{}", to: "v1/height/2026/04/09/_manifest.json")
    let asSaid = try read()
    #expect(asSaid.samples.map(\.payload) == [.quantity(Quantity(0.97, "%")), .quantity(Quantity(180, "m"))])
    #expect(asSaid.samples[1].source == Source(name: "Watch"))
    #expect(try read(repairsUnits: true).samples[1].payload == .quantity(Quantity(1.8, "m")))
  }

  @Test("a sum of a day is of a type of its own, and drifts")
  func sums() throws {
    try write(
      record(
        "HKQuantityTypeIdentifierStepCount", "steps", "8432", "count", kind: "cumulative", uuid: uuids[0],
        aggregation: "sum"), to: "v1/steps/2026/04/09/data.jsonl")
    let (samples, readings, _) = try read()
    #expect(samples.isEmpty)
    #expect(readings.map(\.type) == [SampleType("healthpush.steps")])
    #expect(readings[0].created != nil)
  }

  @Test("what hpeer wrote is the whole sample, and what is deleted is passed over")
  func wholeSamples() throws {
    var maker = SampleMaker(seed: 3)
    let sample = maker.steps(at: 3)
    let feed = String(decoding: try JSONEncoder().encode(sample), as: UTF8.self)
    let whole = record(
      sample.type.rawValue, "steps", "1", "m", uuid: sample.uuid.uuidString, more: #","hpeer":{"added":\#(feed)}"#)
    let deleted = record("HKQuantityTypeIdentifierStepCount", "steps", "0", "count", uuid: uuids[0])
      .replacingOccurrences(of: #""deleted":false"#, with: #""deleted":true"#)
    try write(whole + "\n" + deleted, to: "v1/steps/2024/01/01/data.jsonl")
    let (samples, _, report) = try read(repairsUnits: true)
    #expect(samples == [sample])
    #expect(report.skipped.isEmpty)
  }

  @Test("a table has its type from its name")
  func table() throws {
    let header = "uuid,startDate,endDate,tzOffset,value,unit,aggregation,sourceName,sourceBundleId,schemaVersion"
    let row = "\(uuids[0]),2026-04-09T12:00:00.000Z,2026-04-09T12:01:00.000Z,+01:00,72.0,count/min,raw,\"a,\"\"b\",,1.0"
    try write("\(header)\n\(row)\nnonsense", to: "v1/heart_rate/2026/04/09/data.csv")
    let (samples, _, report) = try read()
    #expect(samples.map(\.type) == [SampleType("HKQuantityTypeIdentifierHeartRate")])
    #expect(samples.map(\.source.name) == ["a,\"b"])
    #expect(report.skipped.count == 1)
  }

  @Test("a file that is torn is reported, and the others go on")
  func tornFile() throws {
    let first = record("HKQuantityTypeIdentifierHeartRate", "heart_rate", "60", "count/min", uuid: uuids[0])
    let second = record("HKQuantityTypeIdentifierHeartRate", "heart_rate", "61", "count/min", uuid: uuids[1])
    try write("\(first)\n{\"a\":1}\n\(second.dropLast(20))", to: "v1/heart_rate/2026/04/09/data.jsonl")
    try write(second, to: "v1/heart_rate/2026/04/10/data.jsonl")
    let (samples, _, report) = try read()
    #expect(samples.count == 2)
    #expect(report.skipped.count == 2)
    #expect(report.isComplete)
  }

  @Test("whose record it is, only the files of that say")
  func person() throws {
    let born = Sample(
      uuid: UUID(), type: Person.Trait.dateOfBirth.type, start: Timestamp(seconds: 0), end: Timestamp(seconds: 0),
      source: Source(name: "Health"), payload: .characteristic(CharacteristicValue(value: "1990-01-02")))
    let feed = String(decoding: try JSONEncoder().encode(born), as: UTF8.self)
    let line = record(
      born.type.rawValue, "date_of_birth", "0", "s", kind: "characteristic", uuid: born.uuid.uuidString,
      more: #","hpeer":{"added":\#(feed)}"#)
    try write(line, to: "v1/steps/1970/01/01/data.jsonl")
    let folder = try #require(HealthPushFolder(at: directory.path))
    #expect(try folder.personReadings().person[.dateOfBirth] == nil)
    #expect(try read().samples.isEmpty)
    try write(line, to: "v1/date_of_birth/1970/01/01/data.jsonl")
    #expect(try #require(HealthPushFolder(at: directory.path)).personReadings().person[.dateOfBirth] != nil)
    #expect(try read().samples == [born])
  }

  @Test("such a folder is recognised, and another is none")
  func recognition() throws {
    #expect(HealthPushFolder(at: directory.path) == nil)
    try write("x", to: "v1/steps/notes.txt")
    #expect(HealthPushFolder(at: directory.path) == nil)
    try write("", to: "v1/steps/2026/04/09/data.jsonl")
    guard case .samples(let folder as HealthPushFolder) = try ImportFile.recognise(directory.path) else {
      Issue.record("not recognised")
      return
    }
    #expect(folder.totalBytes == 0)
    for name in [
      "v1/../2026/04/09/data.jsonl", "v1/a/2026/04/../data.jsonl", "v2/a/2026/04/09/data.jsonl",
      "v1/a b/2026/04/09/data.csv", "v1//2026/04/09/data.csv",
    ] {
      #expect(HealthPushFolder.key(of: name) == nil, "\(name)")
    }
  }
}
