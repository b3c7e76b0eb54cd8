import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests that files in hpeer's own formats are read back exactly.
@Suite struct SampleFileTests {
  static let formats: [SampleFile.Format] = [.json, .csv, .changeFeed]

  private func expectRoundTrip(_ samples: [Sample], _ format: SampleFile.Format, chunkSize: Int = 1 << 16) throws {
    let text = try SampleText(samples, format)
    let reading = try SampleReading(text.bytes, format, chunkSize: chunkSize)
    #expect(reading.report.isComplete)
    #expect(reading.samples.count == samples.count)
    for (written, read) in zip(samples, reading.samples) {
      let (before, after) = (try written.text(), try read.text())
      if before != after {
        Issue.record("\(String(decoding: before, as: UTF8.self)) became \(String(decoding: after, as: UTF8.self))")
      }
    }
  }

  @Test(arguments: formats)
  func everyOddityIsKept(format: SampleFile.Format) throws {
    try expectRoundTrip(SampleMaker.edgeCases, format)
  }

  @Test(arguments: formats, [11, 12] as [UInt64])
  func randomSamplesAreKeptInChunksOfAnySize(format: SampleFile.Format, seed: UInt64) throws {
    var maker = SampleMaker(seed: seed)
    let samples = maker.samples(60)
    for chunkSize in [1, 7, 1000] { try expectRoundTrip(samples, format, chunkSize: chunkSize) }
  }

  @Test(arguments: formats)
  func noSamplesAtAll(format: SampleFile.Format) throws {
    try expectRoundTrip([], format)
  }

  @Test func aDocumentMayBeSpacedDifferently() throws {
    var maker = SampleMaker(seed: 3)
    let sample = maker.steps(at: 0)
    let object = try JSONSerialization.jsonObject(with: Data(try SampleText([sample], .json).bytes))
    let pretty = try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys])
    // Sorted, `version` comes after `samples`, which says what they are.
    #expect(throws: SampleFileError.self) { try SampleReading(Array(pretty), .json) }
    let text = String(decoding: pretty, as: UTF8.self).replacing(
      "{\n", with: "{\n \"version\" : 1,\n", maxReplacements: 1)
    #expect(try SampleReading("\u{FEFF}" + text, .json).samples == [sample])
  }

  @Test func membersOfALaterVersionArePassedOver() throws {
    let text = #"{"format":"hpeer","version":1,"more":{"a":[1,"]}"]},"samples":[],"last":"}"}"#
    #expect(try SampleReading(text, .json).report.isComplete)
  }

  @Test func columnsMayComeInAnotherOrderAndOthersBeThere() throws {
    let text = """
      note,payloadKind,end,start,type,uuid,sourceName,unit,value\r
      "a, ""b""\r\nc",quantity,2024-01-01T00:01:00Z,2024-01-01T00:00:00Z,HKQuantityTypeIdentifierStepCount,\
      00000000-0000-0000-0000-000000000001,iPhone,count,12.5\r\n
      """
    let reading = try SampleReading(text, .csv)
    #expect(reading.samples.map(\.payload) == [.quantity(Quantity(12.5, "count"))])
    #expect(reading.samples[0].source == Source(name: "iPhone"))
    // Programs end lines in other ways.
    #expect(try SampleReading(text.replacing("\r\n", with: "\n"), .csv).samples == reading.samples)
  }

  @Test func aTextThatASpreadsheetTakesForAFormulaIsNotChanged() throws {
    var maker = SampleMaker(seed: 4)
    var sample = maker.steps(at: 0)
    sample.source.name = "=HYPERLINK(\"x\")"
    try expectRoundTrip([sample], .csv)
    #expect(String(decoding: try SampleText([sample], .csv).bytes, as: UTF8.self).contains(#","=HYPERLINK(""x"")","#))
  }

  @Test func aChangeFeedBringsDeletionsToo() throws {
    var maker = SampleMaker(seed: 5)
    let (kept, bare, deleted) = (maker.steps(at: 0), maker.steps(at: 1), maker.steps(at: 2))
    let tombstone = Tombstone(sample: deleted.reference, deleted: Timestamp(seconds: 1_720_000_000))
    let text = """
      {"deleted":\(try CanonicalJSON.encode(tombstone))}
      {"added":\(try CanonicalJSON.encode(kept))}

      \(try CanonicalJSON.encode(bare))
      {"token":"abc","more":false}
      """
    let reading = try SampleReading(text, .changeFeed)
    #expect(reading.samples == [kept, bare])
    #expect(reading.deletions == [tombstone])
    #expect(reading.report.records == [kept.type.rawValue: 2])
  }

  @Test func batchesAreNoLargerThanAskedFor() throws {
    var maker = SampleMaker(seed: 6)
    let samples = (0..<25).map { maker.steps(at: $0) }
    let reading = try SampleReading(try SampleText(samples, .json).bytes, .json, batchSize: 10)
    #expect(reading.batches == [10, 10, 5])
    #expect(reading.samples == samples)
  }
}

/// The text of a file of samples.
struct SampleText {
  var bytes: [UInt8] = []

  init(_ samples: [Sample], _ format: SampleFile.Format) throws {
    switch format {
    case .json: try write(samples, SampleJSONWriter(exported: Timestamp(seconds: 0)))
    case .csv: try write(samples, SampleCSVWriter())
    case .changeFeed:
      for sample in samples { bytes += Array("{\"added\":\(try CanonicalJSON.encode(sample))}\n".utf8) }
    case .fhirBundle: _ = try write(fhir: samples, .bundle)
    case .fhirResources: _ = try write(fhir: samples, .lines)
    }
  }

  /// - Returns: The samples that FHIR can represent.
  mutating func write(
    fhir samples: [Sample], _ form: FHIRWriter.Form, subject: FHIRWriter.Subject = .patient(UUID()),
    map: FHIRMap = .standard
  ) throws -> [Sample] {
    var writer = FHIRWriter(form, exported: Timestamp(seconds: 0), subject: subject, map: map)
    writer.begin(person: Person(), into: &bytes)
    var written: [Sample] = []
    for sample in samples where try writer.append(sample, members: [], to: &bytes) { written.append(sample) }
    writer.end(into: &bytes)
    return written
  }

  init() {}

  private mutating func write(_ samples: [Sample], _ writer: some SampleFileWriter) throws {
    var writer = writer
    writer.begin(into: &bytes)
    for sample in samples { try writer.append(sample, to: &bytes) }
    writer.end(into: &bytes)
  }
}

/// The complete result of reading a file of samples.
struct SampleReading {
  var samples: [Sample] = []
  var deletions: [Tombstone] = []
  var readings: [Sample] = []
  var batches: [Int] = []
  var report = ImportReport()

  init(_ text: String, _ format: SampleFile.Format) throws { try self.init(Array(text.utf8), format) }

  init(_ bytes: [UInt8], _ format: SampleFile.Format, batchSize: Int = 10_000, chunkSize: Int = 1 << 16) throws {
    var all: [SampleBatch] = []
    let file = SampleFile(format: format, bytes: bytes)
    report = try file.read(batchSize: batchSize, chunkSize: chunkSize) { all.append($0) }
    try add(all)
  }

  /// Reads a Health Auto Export file.
  init(
    autoExport text: String, asOf: Timestamp? = nil, period: AggregationPeriod? = nil, chunkSize: Int = 1 << 16
  ) throws {
    var all: [SampleBatch] = []
    report = try HealthAutoExport(bytes: Array(text.utf8)).read(
      asOf: asOf, period: period, batchSize: 1000, chunkSize: chunkSize
    ) { all.append($0) }
    try add(all)
  }

  private mutating func add(_ all: [SampleBatch]) throws {
    for batch in all {
      let expander = try ChangeExpander(batch.changes)
      samples += try batch.changes.samples.map(expander.sample)
      deletions += batch.changes.tombstones.map(expander.tombstone)
      readings += batch.readings
      batches.append(batch.count)
    }
  }
}
