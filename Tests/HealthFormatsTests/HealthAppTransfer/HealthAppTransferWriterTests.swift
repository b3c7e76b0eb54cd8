import Foundation
import HealthAppTransfer
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests against the rules of the app's importer, which rejects a whole JSON file for a sample that it can't read,
/// and silently skips such rows of a CSV file.
@Suite struct HealthAppTransferWriterTests {
  /// A sample as the app decodes it.
  private struct AppSample: Decodable {
    var id: UUID
    var type: String
    var startDate: Date
    var endDate: Date
    var sourceName: String
    var sourceBundleIdentifier: String?
    var value: Double?
    var unit: String?
    var categoryValue: Int?
    var workoutActivityType: UInt?
    var workoutDuration: Double?
    var correlationValues: [String: Double]?
    var metadataJSON: String?
  }

  private struct AppFile: Decodable {
    struct Metadata: Decodable {
      struct Range: Decodable { var start: Date, end: Date }
      var formatVersion: String
      var exportDate: Date
      var sampleCount: Int
      var types: [String]
      var dateRange: Range?
    }
    var data: [String: [AppSample]]
    var metadata: Metadata
  }

  private static let exported = Timestamp(seconds: 1_720_000_000)

  static func text(
    _ samples: [Sample], _ form: HealthAppTransferWriter.Form, members: [Sample] = [], defusesFormulas: Bool = false
  ) -> (bytes: [UInt8], written: [Sample]) {
    var writer = HealthAppTransferWriter(form, exported: exported, defusesFormulas: defusesFormulas)
    var bytes: [UInt8] = []
    writer.begin(into: &bytes)
    var written: [Sample] = []
    // Types come one after the other.
    for sample in samples.sorted(by: { $0.type < $1.type }) {
      if writer.append(sample, members: members, to: &bytes) { written.append(sample) }
    }
    writer.end(into: &bytes)
    return (bytes, written)
  }

  static func quantity(_ value: Double, source: String = "Casey’s Apple Watch", metadata: Metadata = [:]) -> Sample {
    let start = Timestamp(microseconds: 1_718_447_400_987_400)
    return Sample(
      uuid: UUID(
        uuid: (0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24, 0x7A, 0x3E, 0x6E, 0x5F)),
      type: SampleType("HKQuantityTypeIdentifierHeartRate"), start: start,
      end: Timestamp(microseconds: start.microseconds + 60_000_000),
      source: Source(name: source, bundleIdentifier: "com.apple.health.E1"), metadata: metadata,
      payload: .quantity(Quantity(value, "count/s")))
  }

  private var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return decoder
  }

  /// Returns whether the app knows a type.
  private func isKnown(_ type: String) -> Bool { AppTypes.entry(named: type) != nil }

  private func samples(seed: UInt64) -> [Sample] {
    var maker = SampleMaker(seed: seed)
    return maker.samples(2_000) + SampleMaker.edgeCases
  }

  @Test(arguments: [UInt64(1), 2])
  func anyRecordIsOneThatTheAppDecodes(seed: UInt64) throws {
    let samples = samples(seed: seed)
    let one = Self.text(samples, .json1)
    let flat = try decoder.decode([AppSample].self, from: Data(one.bytes))
    #expect(flat.map(\.id) == one.written.map(\.uuid))
    #expect(flat.allSatisfy { isKnown($0.type) })
    #expect(one.written.count > 200)

    let two = Self.text(samples, .json2)
    let file = try decoder.decode(AppFile.self, from: Data(two.bytes))
    #expect(file.metadata.formatVersion == "2.0")
    #expect(file.metadata.sampleCount == one.written.count)
    #expect(file.metadata.types == file.data.keys.sorted())
    #expect(file.data.values.map(\.count).reduce(0, +) == one.written.count)
    for (type, samples) in file.data { #expect(samples.allSatisfy { $0.type == type }) }
    #expect(!flat.isEmpty)
    #expect(file.metadata.dateRange?.start == flat.map(\.startDate).min())
    #expect(file.metadata.dateRange?.end == flat.map(\.endDate).max())
  }

  /// The faster writer must produce the same as an encoder.
  @Test(arguments: DateSpelling.allCases)
  func printedIsWhatIsEncoded(dates: DateSpelling) throws {
    var samples = samples(seed: 3)
    samples.append(Self.quantity(-0.0, source: "\u{1}\"\\/\n\u{7F}é😴"))
    samples.append(
      Self.quantity(
        1e21,
        metadata: [
          "b": .number(.infinity), "a": .date(Timestamp(microseconds: 1)), "/é\n": .bool(true), "c": .number(2),
        ]))
    let members = [Self.quantity(0.1), Self.quantity(70)]
    var count = 0
    for sample in samples {
      guard let row = HealthSampleDTO(sample, members: members, dates: dates) else { continue }
      count += 1
      var bytes: [UInt8] = []
      row.append(to: &bytes)
      #expect(String(decoding: bytes, as: UTF8.self) == (try CanonicalJSON.encode(row)))
      if let text = row.metadataJSON {
        #expect(try CanonicalJSON.encode(CanonicalJSON.decode(JSONValue.self, text)) == text)
      }
    }
    #expect(count > 200)
  }

  /// The app first splits the table into lines, and accepts only dates with fractions.
  @Test(arguments: [UInt64(1), 2])
  func anyRecordIsATableOfWholeLines(seed: UInt64) throws {
    let table = Self.text(samples(seed: seed), .csv)
    let lines = String(decoding: table.bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(
      lines.first
        == """
        id,type,startDate,endDate,sourceName,sourceBundleIdentifier,value,unit,categoryValue,workoutActivityType,\
        workoutDuration,workoutTotalEnergyBurned,workoutTotalDistance,correlationValues,characteristicValue,metadata
        """)
    #expect(lines.count == table.written.count + 2)
    #expect(lines.last == "")
    #expect(!table.bytes.contains(0x0D))
    for (line, sample) in zip(lines.dropFirst(), table.written) {
      let fields = line.split(separator: ",", maxSplits: 4, omittingEmptySubsequences: false)
      #expect(fields[0] == sample.uuid.uuidString)
      #expect(fields[2].wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(fields[2])")
      #expect(fields[3].wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(fields[3])")
    }
  }

  @Test func aSampleLooksLikeTheApps() {
    let sample = Self.quantity(1.2, metadata: ["HKMetadataKeyHeartRateMotionContext": .integer(1)])
    #expect(
      String(decoding: Self.text([sample], .json2).bytes, as: UTF8.self) == """
        {"data":{
        "heartRate":[
        {"endDate":"2024-06-15T10:31:00Z","id":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F",\
        "metadataJSON":"{\\"HKMetadataKeyHeartRateMotionContext\\":1}","sourceBundleIdentifier":"com.apple.health.E1",\
        "sourceName":"Casey’s Apple Watch","startDate":"2024-06-15T10:30:00Z","type":"heartRate","unit":"count/min",\
        "value":72}
        ]},
        "metadata":{"dateRange":{"end":"2024-06-15T10:31:00Z","start":"2024-06-15T10:30:00Z"},\
        "exportDate":"2024-07-03T09:46:40Z","formatVersion":"2.0","sampleCount":1,"types":["heartRate"]}}

        """)
    let rows = String(decoding: Self.text([sample], .csv).bytes, as: UTF8.self).split(separator: "\n")
    #expect(
      rows[1] == """
        E621E1F8-C36C-495A-93FC-0C247A3E6E5F,heartRate,2024-06-15T10:30:00.987Z,2024-06-15T10:31:00.987Z,\
        Casey’s Apple Watch,com.apple.health.E1,72.0,count/min,,,,,,,,"{""HKMetadataKeyHeartRateMotionContext"":1}"
        """)
  }

  @Test func nothingIsAFileToo() throws {
    #expect(try decoder.decode([AppSample].self, from: Data(Self.text([], .json1).bytes)).isEmpty)
    let file = try decoder.decode(AppFile.self, from: Data(Self.text([], .json2).bytes))
    #expect(file.metadata.sampleCount == 0 && file.data.isEmpty && file.metadata.dateRange == nil)
  }

  @Test func aBloodPressureHasItsValues() throws {
    let time = Timestamp(seconds: 1_718_447_400)
    func member(_ name: String, _ value: Double) -> Sample {
      Sample(
        uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierBloodPressure\(name)"), start: time, end: time,
        source: Source(name: "cuff"), payload: .quantity(Quantity(value, "mmHg")))
    }
    let members = [member("Systolic", 120), member("Diastolic", 80.5)]
    let pressure = Sample(
      uuid: UUID(), type: SampleType("HKCorrelationTypeIdentifierBloodPressure"), start: time, end: time,
      source: Source(name: "cuff"), payload: .correlation(Correlation(members: members.map(\.reference))))
    let json = try decoder.decode([AppSample].self, from: Data(Self.text([pressure], .json1, members: members).bytes))
    #expect(json.first?.correlationValues == ["systolic": 120, "diastolic": 80.5])
    #expect(json.first?.unit == "mmHg")
    let table = String(decoding: Self.text([pressure], .csv, members: members).bytes, as: UTF8.self)
    #expect(table.contains(",diastolic=80.5;systolic=120.0,"))
    // And comes back, its values in a place of their own.
    for form in HealthAppTransferWriter.Form.allCases {
      let read = try HealthAppTransferReading(Self.text([pressure], form, members: members).bytes).samples
      #expect(read.count == 1)
      #expect(try #require(read.first).metadata["hpeer.correlation.systolic"] == .number(120))
      #expect(Self.text(read, form).bytes == Self.text([pressure], form, members: members).bytes)
    }
  }

  @Test func formulasAreDefusedIfThatIsWanted() {
    let sample = Self.quantity(1, source: "=1+1\nx")
    #expect(String(decoding: Self.text([sample], .csv).bytes, as: UTF8.self).contains(",=1+1 x,"))
    let defused = Self.text([sample], .csv, defusesFormulas: true).bytes
    #expect(String(decoding: defused, as: UTF8.self).contains(",'=1+1 x,"))
  }

  @Test func whatTheAppLacksIsLeftOut() {
    let time = Timestamp(seconds: 1_718_447_400)
    func sample(_ type: String, _ payload: Payload, at start: Timestamp = Timestamp(seconds: 1_718_447_400)) -> Sample {
      Sample(
        uuid: UUID(), type: SampleType(type), start: start, end: start, source: Source(name: "x"), payload: payload)
    }
    let lacking = [
      sample("HKQuantityTypeIdentifierRowingSpeed", .quantity(Quantity(1, "m/s"))),
      sample("HKQuantityTypeIdentifierOfTomorrow", .quantity(Quantity(1, "m"))),
      sample("HKQuantityTypeIdentifierStepCount", .quantity(Quantity(.infinity, "count"))),
      sample("HKQuantityTypeIdentifierStepCount", .category(CategoryValue(value: 1))),
      sample("HKQuantityTypeIdentifierStepCount", .quantity(Quantity(1, "count")), at: Timestamp(microseconds: .max)),
      sample(
        SampleType.activitySummary.rawValue, .activitySummary(ActivitySummary(date: "2024-06-15", attributes: [:]))),
    ]
    #expect(time < Timestamp(microseconds: .max))
    for form in HealthAppTransferWriter.Form.allCases {
      #expect(Self.text(lacking, form).written.map(\.payload.kind) == [], "\(form)")
    }
  }

  /// Compares the types with the app's table, if the table is available.
  @Test func theTypesAreTheApps() throws {
    let table = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../../../shared/data/sample_types.tsv")
    guard let text = try? String(contentsOf: table, encoding: .utf8) else {
      print("skipped: the table of the app's types is not beside this checkout")
      return
    }
    let rows = text.split(separator: "\n").dropFirst().map {
      $0.split(separator: "\t", omittingEmptySubsequences: false)
    }
    let named = Set(rows.filter { $0[4] != "characteristic" }.map { String($0[0]) })
    let ours = Set(SampleTypeCatalogue.healthKit.entries.compactMap { AppTypes.entry(of: $0.type)?.shortName })
    #expect(ours == named)
  }
}
