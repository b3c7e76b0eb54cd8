import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// The result of reading a whole file.
struct HealthAppTransferReading {
  var samples: [Sample] = []
  var report: ImportReport

  init(_ bytes: [UInt8], chunkSize: Int = 1 << 16) throws {
    let isJSON = bytes.first == UInt8(ascii: "[") || bytes.first == UInt8(ascii: "{")
    let file = HealthAppTransferFile(isJSON ? .json : .csv, bytes: bytes)
    var samples: [Sample] = []
    report = try file.read(batchSize: 7, chunkSize: chunkSize) { batch in
      #expect(batch.changes.samples.count <= 7)
      for row in batch.changes.samples { samples.append(try ChangeExpander(batch.changes).sample(row)) }
    }
    self.samples = samples
  }

  init(_ text: String) throws { try self.init(Array(text.utf8)) }
}

@Suite struct HealthAppTransferFileTests {
  private typealias Writing = HealthAppTransferWriterTests

  private static let header =
    "id,type,startDate,endDate,sourceName,sourceBundleIdentifier,value,unit,categoryValue,workoutActivityType,"
    + "workoutDuration,workoutTotalEnergyBurned,workoutTotalDistance,correlationValues,characteristicValue,metadata"
  private static let id = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"

  private func steps(_ members: String = #""value":72,"unit":"count""#, type: String = "stepCount") -> String {
    #"{"id":"\#(Self.id)","type":"\#(type)","startDate":"2024-06-15T10:30:00Z","endDate":"2024-06-15T10:31:00Z","#
      + #""sourceName":"iPhone"\#(members.isEmpty ? "" : ",")\#(members)}"#
  }

  /// Files that are read and written again have the same bytes.
  @Test(arguments: HealthAppTransferWriter.Form.allCases, [1, 5, 4096])
  func whatIsWrittenComesBack(form: HealthAppTransferWriter.Form, chunkSize: Int) throws {
    var maker = SampleMaker(seed: 11)
    let samples = maker.samples(chunkSize == 1 ? 300 : 2_000).filter { sample in
      // A table cannot tell an empty unit from none.
      if case .quantity(let quantity) = sample.payload { !quantity.unit.isEmpty } else { true }
    }
    let (bytes, expected) = Writing.text(samples, form)
    let reading = try HealthAppTransferReading(bytes, chunkSize: chunkSize)
    #expect(reading.report.isComplete)
    #expect(reading.samples.map(\.uuid) == expected.map(\.uuid))
    #expect(reading.samples.map(\.type) == expected.map(\.type))
    for (read, sample) in zip(reading.samples, expected) {
      // Cut to the second, or rounded to the millisecond.
      let distance = read.start.microseconds - sample.start.microseconds
      #expect(form == .csv ? (-500...500).contains(distance) : (-999_999...0).contains(distance))
      if case .category(let value) = sample.payload, case .category(let other) = read.payload {
        #expect(value.value == other.value)
      }
    }
    #expect(Writing.text(reading.samples, form).bytes == Writing.text(expected, form).bytes)
  }

  @Test func everyKindIsRead() throws {
    let file = """
      [\(steps()),
      \(steps(#""categoryValue":3"#, type: "sleepAnalysis")),
      \(steps(#""workoutActivityType":37,"workoutDuration":1800.25,"workoutTotalDistance":5000"#, type: "workout")),
      \(steps(#""correlationValues":{"diastolic":80.5,"systolic":120},"unit":"mmHg""#, type: "bloodPressure")),
      \(steps(#""value":0.98,"unit":"%","metadataJSON":"{\"a\":1,\"b\":\"c\",\"d\":[1]}""#, type: "oxygenSaturation"))]
      """
    let samples = try HealthAppTransferReading(file).samples
    #expect(
      samples.map(\.type.shortName) == ["stepCount", "sleepAnalysis", "workout", "bloodPressure", "oxygenSaturation"])
    #expect(samples[0].payload == .quantity(Quantity(72, "count")))
    #expect(samples[0].uuid.uuidString == Self.id)
    #expect(samples[1].payload == .category(CategoryValue(value: 3)))
    #expect(
      samples[2].payload
        == .workout(
          Workout(activityType: .value(37), duration: 1800.25, totals: ["totalDistance": Quantity(5000, "m")])))
    #expect(samples[4].metadata == ["a": .integer(1), "b": "c", "d": "[1]"])
  }

  /// The app's formats are distinguished from those of hpeer and of Health Auto Export, whatever comes first.
  @Test func itIsRecognisedByItsContent() throws {
    let folder = try TemporaryFolder()
    func form(_ text: String) throws -> HealthAppTransferFile.Form? {
      guard
        case .samples(let file as HealthAppTransferFile) = try ImportFile.recognise(
          try folder.write(Array(text.utf8), to: "f"))
      else { return nil }
      return file.form
    }
    let metadata = #""metadata":{"exportDate":"2024-07-03T09:46:40Z","formatVersion":"2.0","sampleCount":0,"types":[]}"#
    #expect(try form("[\n\(steps())]") == .json)
    #expect(try form("[]") == .json)
    #expect(try form(#"{"data":{"stepCount":[\#(steps())]},\#(metadata)}"#) == .json)
    #expect(try form(#"{\#(metadata),"data":{"stepCount":[]}}"#) == .json)
    #expect(try form(#"{"data":{},\#(metadata)}"#) == .json)
    #expect(try form(Self.header + "\n") == .csv)
    #expect(try form(#"{"data":{"metrics":[]}}"#) == nil)
  }

  /// An unreadable sample is skipped and counted by its reason, without affecting other samples.
  @Test func whatIsNoSampleIsSkipped() throws {
    let bad = [
      steps(type: "ofTomorrow"), steps(""), steps(#""value":"much""#), steps(#""value":true"#), "7", "null", "{}",
      steps().replacing(Self.id, with: "x"), steps().replacing("10:30:00Z", with: "25:30:00Z"),
      steps("", type: "workout"), steps(#""workoutActivityType":-1"#, type: "workout"),
      steps(#""correlationValues":{}"#, type: "bloodPressure"), steps(#""categoryValue":1.5"#, type: "sleepAnalysis"),
    ]
    let reading = try HealthAppTransferReading("[\((bad + [steps()]).joined(separator: ",\n"))]")
    #expect(reading.samples.count == 1)
    #expect(reading.report.skipped.values.map(\.count).reduce(0, +) == bad.count)
    #expect(reading.report.skipped["HealthAppTransfer: the type ofTomorrow is unknown"]?.lines == [1])
    let rows = [
      "\(Self.id),stepCount,2024-06-15T10:30:00.000Z,2024-06-15T10:31:00.000Z,iPhone,,72.0,count,,,,,,,,",
      "\(Self.id),stepCount,yesterday,2024-06-15T10:31:00.000Z,iPhone,,72.0,count,,,,,,,,",
      "\(Self.id),stepCount,2024-06-15T10:30:00.000Z,2024-06-15T10:31:00.000Z,iPhone,,nan,count,,,,,,,,",
    ]
    let table = try HealthAppTransferReading(([Self.header] + rows).joined(separator: "\r\n") + "\r\n")
    #expect(table.samples.count == 1)
    #expect(table.report.skipped.values.map(\.count).reduce(0, +) == 2)
  }

  @Test func aFileThatBreaksOffGivesWhatIsWhole() throws {
    var maker = SampleMaker(seed: 3)
    let samples = (0..<20).map { maker.steps(at: $0) }
    for form in HealthAppTransferWriter.Form.allCases {
      let bytes = Writing.text(samples, form).bytes
      let reading = try HealthAppTransferReading(Array(bytes[..<(bytes.count / 2)]))
      #expect(!reading.report.isComplete, "\(form)")
      #expect((5..<15).contains(reading.samples.count), "\(form)")
      #expect(reading.samples.map(\.uuid) == samples.prefix(reading.samples.count).map(\.uuid), "\(form)")
    }
  }

  @Test(arguments: [
    #"[{"id":]"#, "[\(String(repeating: "[", count: 300))", #"{"data":7}"#, #"{"data":{"stepCount":{}}}"#,
  ])
  func whatIsNoJSONIsRefused(text: String) {
    #expect(throws: SampleFileError.self) { try HealthAppTransferReading(text) }
  }
}
