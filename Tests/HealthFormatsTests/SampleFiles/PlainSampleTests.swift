import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests that the fast reader, which takes samples in hpeer's usual form directly from their bytes, and the general
/// decoder give the same samples, reports and errors.
@Suite struct PlainSampleTests {
  private static let formats: [SampleFile.Format] = [.json, .csv]

  /// The result of a reading: samples as texts, up to an error.
  private struct Outcome: Equatable {
    var samples: [String] = []
    var report: ImportReport?
    var error: SampleFileError?

    init(_ bytes: [UInt8], _ format: SampleFile.Format, chunkSize: Int = 1 << 16, by way: SampleFile.Way) throws {
      var samples: [String] = []
      do {
        let file = SampleFile(format: format, bytes: bytes)
        // Each is delivered before the next is read.
        report = try file.read(batchSize: 1, chunkSize: chunkSize, by: way) { batch in
          for row in batch.changes.samples {
            samples.append(String(decoding: try batch.changes.sample(row).text(), as: UTF8.self))
          }
        }
      } catch let error as SampleFileError {
        self.error = error
      }
      self.samples = samples
    }
  }

  private func expectSame(
    _ bytes: [UInt8], _ format: SampleFile.Format, chunkSizes: [Int] = [1 << 16]
  ) throws {
    let general = try Outcome(bytes, format, by: .general)
    for chunkSize in chunkSizes {
      let fastest = try Outcome(bytes, format, chunkSize: chunkSize, by: .fastest)
      #expect(fastest == general, "\(String(decoding: bytes.prefix(2000), as: UTF8.self))")
    }
  }

  /// Returns the number of samples in a file that the fast reader can take.
  private func plainCount(_ samples: [Sample], _ format: SampleFile.Format) throws -> Int {
    let text = try SampleText(samples, format).bytes
    var plain = PlainSamples()
    var coder = BatchCoder()
    var count = 0
    for line in text.split(separator: 0x0A).dropFirst() {
      var line = Array(line)
      if line.last == UInt8(ascii: ",") { line.removeLast() }
      if format == .csv { line.append(0x0A) }
      let isPlain = line.withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress else { return false }
        let bytes = Bytes(start, buffer.count)
        return format == .csv ? plain.add(row: bytes, to: &coder) == bytes.count : plain.add(json: bytes, to: &coder)
      }
      if isPlain { count += 1 }
    }
    #expect(count == coder.samples.count)
    return count
  }

  @Test(arguments: formats)
  func theUsualGoesTheFastWay(format: SampleFile.Format) throws {
    var maker = SampleMaker(seed: 20)
    var samples = (0..<6).map { maker.steps(at: $0) }
    samples[1].created = samples[1].end
    samples[2].device = Device(name: "Watch", manufacturer: "Apple Inc., \"Cupertino\"", hardwareVersion: "Watch6,2")
    samples[3].metadata = ["HKTimeZone": "Europe/Berlin", "n": .number(1.5), "d": .date(Timestamp(microseconds: 1))]
    samples[4].payload = .category(CategoryValue(value: 3))
    samples[4].start.microseconds += 123_456
    samples[5].payload = .category(CategoryValue(value: nil))
    samples[5].source = Source(name: "Casey\u{2019}s, \"Watch\"", bundleIdentifier: "com.apple.health", version: "10.3")
    for number in [0, -1.5, 0.1 + 0.2, 1e-7, 123_456.789, 99_999_999_999_999, 1e22] {
      var sample = maker.steps(at: 0)
      sample.payload = .quantity(Quantity(number, "count/min"))
      samples.append(sample)
    }
    // In the JSON of a text, quotes are escaped.
    #expect(try plainCount(samples, format) == samples.count)
    try expectSame(try SampleText(samples, format).bytes, format)
  }

  @Test(arguments: formats)
  func everyOddityIsReadTheSame(format: SampleFile.Format) throws {
    // The last three are large, and nothing else.
    try expectSame(try SampleText(Array(SampleMaker.edgeCases.dropLast(3)), format).bytes, format)
  }

  @Test(arguments: formats, 1...6 as ClosedRange<UInt64>)
  func anySampleIsReadTheSameInChunksOfAnySize(format: SampleFile.Format, seed: UInt64) throws {
    var maker = SampleMaker(seed: seed)
    let bytes = try SampleText(maker.samples(100), format).bytes
    try expectSame(bytes, format, chunkSizes: [9, 300, 5000, 1 << 16])
  }

  /// Bytes of plain samples are changed, removed, duplicated or exchanged.
  @Test(arguments: formats, 1...4 as ClosedRange<UInt64>)
  func damagedFilesAreReadTheSame(format: SampleFile.Format, seed: UInt64) throws {
    var maker = SampleMaker(seed: seed)
    var samples = (0..<4).map { maker.steps(at: $0) }
    samples[1].device = Device(name: "Watch", model: "Watch")
    samples[1].metadata = ["HKTimeZone": "Europe/Berlin"]
    samples[2].payload = .category(CategoryValue(value: 12))
    samples[3] = samples[1]
    samples[3].created = samples[1].end
    let whole = try SampleText(samples, format).bytes
    let odd = Array("\"\\,{}[]:\r\n0-9.eE+tTzZ\u{0}\u{1F} é".utf8) + [0x80, 0xC3, 0xFF]
    for _ in 0..<150 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...2, using: &maker.random) {
        let index = Int.random(in: 0..<bytes.count, using: &maker.random)
        switch Int.random(in: 0..<5, using: &maker.random) {
        case 0: bytes.remove(at: index)
        case 1: bytes.insert(odd.randomElement(using: &maker.random) ?? 0, at: index)
        case 2: bytes[index] = UInt8.random(in: 0...255, using: &maker.random)
        case 3: bytes.swapAt(index, Int.random(in: 0..<bytes.count, using: &maker.random))
        default: bytes[index] = odd.randomElement(using: &maker.random) ?? 0
        }
      }
      try expectSame(bytes, format)
    }
  }

  private static let json = """
    {"created":"2024-01-01T00:00:00Z","device":{"name":"d"},"end":"2024-01-01T00:00:01Z","kind":"quantity",\
    "metadata":{"a":"b"},"payload":{"unit":"m","value":1},"source":{"name":"s"},"start":"2024-01-01T00:00:00.000001Z",\
    "type":"t","uuid":"00000000-0000-4000-8000-00000000ABCD"}
    """

  @Test(
    arguments: [
      (#""value":1"#, #""value":01"#), (#""value":1"#, #""value":1."#), (#""value":1"#, #""value":.5"#),
      (#""value":1"#, #""value":+1"#), (#""value":1"#, #""value":-"#), (#""value":1"#, #""value":-0"#),
      (#""value":1"#, #""value":-0.0"#), (#""value":1"#, #""value":1e400"#), (#""value":1"#, #""value":1e-400"#),
      (#""value":1"#, #""value":4.9e-324"#), (#""value":1"#, #""value":2.2250738585072011e-308"#),
      (#""value":1"#, #""value":1E+2"#), (#""value":1"#, #""value":0.1234567890123456789012345"#),
      (#""value":1"#, #""value":123456789012345678901234567890"#), (#""value":1"#, #""value":null"#),
      (#""value":1"#, #""value":"nan""#), (#""value":1"#, #""value":1,"more":2"#),
      (#""value":1"#, #""value":1,"value":2"#),
      ("T00:00:01Z", "T24:00:00Z"), ("T00:00:01Z", "T23:59:60Z"), ("T00:00:01Z", "T00:60:00Z"),
      ("2024-01-01T00:00:01Z", "2023-02-29T00:00:00Z"), ("2024-01-01T00:00:01Z", "2024-13-01T00:00:00Z"),
      ("2024-01-01T00:00:01Z", "0000-01-01T00:00:00Z"), ("2024-01-01T00:00:01Z", "2024-01-00T00:00:00Z"),
      ("T00:00:01Z", "T00:00:01+01:00"), ("T00:00:01Z", "T00:00:01.5Z"), ("T00:00:01Z", "T00:00:01"),
      ("ABCD", "abcd"), ("ABCD", "ABCG"), ("-4000-", "04000-"), ("ABCD", "ABCDE"),
      (#"{"a":"b"}"#, "{}"), (#"{"a":"b"}"#, #"{"a":"b","a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"b","a":"c"}"#),
      (#"{"a":"b"}"#, #"{"a":"\u0000\"}"}"#), (#"{"a":"b"}"#, #"{"a":{"date":"x"}}"#), (#"{"a":"b"}"#, #"{"a":[1}}"#),
      (#"{"a":"b"}"#, #"{"a":1.0,"b":2e3,"c":12345678901234567890}"#), (#"{"a":"b"}"#, "null"),
      (#"{"a":"b"}"#, "{\"e\u{301}\":1,\"\u{E9}\":2}"), (#"{"name":"d"}"#, "{}"), (#"{"name":"d"}"#, #"{"name":1}"#),
      (#"{"name":"d"}"#, #"{"name":"d","zzz":"e"}"#), (#"{"name":"s"}"#, #"{"name":"s","name":"x"}"#),
      (#"{"name":"s"}"#, #"{"version":"1"}"#), (#""t""#, #""\u0074""#), (#""t""#, #""""#), (#""m""#, "\"e\u{301}\""),
      (#""quantity""#, #""category""#), (#""quantity""#, #""Quantity""#),
      (#""quantity","metadata":{"a":"b"},"payload":{"unit":"m","value":1}"#, #""category","payload":{"value":1.0}"#),
      (#""quantity","metadata":{"a":"b"},"payload":{"unit":"m","value":1}"#, #""category","payload":{"value":-0}"#),
      (
        #""quantity","metadata":{"a":"b"},"payload":{"unit":"m","value":1}"#,
        #""category","payload":{"value":9007199254740993}"#
      ),
    ] as [(String, String)])
  func spellingsOfAnObjectAreReadTheSame(part: String, other: String) throws {
    #expect(Self.json.contains(part))
    // The second time, tables know what was read the first time.
    let lines = [Self.json, Self.json.replacing(part, with: other), Self.json].joined(separator: ",\n")
    try expectSame(Array("{\"format\":\"hpeer\",\"version\":1,\"samples\":[\n\(lines)\n]}\n".utf8), .json)
  }

  private static let row = """
    00000000-0000-4000-8000-00000000ABCD,t,2024-01-01T00:00:00Z,2024-01-01T00:00:01Z,,1.0,m,,s,b,,"{""name"":""d""}",\
    "{""a"":""b""}",quantity,
    """

  @Test(
    arguments: [
      (",1.0,", ",nan,"), (",1.0,", ",,"), (",1.0,", ",\"\","), (",1.0,", ",\"1.0\","), (",1.0,", ",1e5,"),
      (",1.0,", ",.5,"), (",1.0,", ",1e400,"), (",1.0,", ",0x1p4,"), (",m,,", ",,,"), (",m,,", ",\"\",,"),
      (",m,,", ",m,5,"), (",m,,", ",\"a,\"\"b\"\"\",,"), (",m,,", ",\"a\nb\",,"), (",m,,", ",\"a\"x,,"),
      (",m,,", ",a\"x,,"),
      (",s,b,,", ",,,,"), (",s,b,,", ",\"\",\"\",\"\","), (",s,b,,", ",s,b,"), (",quantity,", ",category,"),
      (",1.0,m,,", ",,,3,"), (",1.0,m,,", ",,,,"), (",1.0,m,,", ",,,03,"), (",1.0,m,,", ",,,-0,"),
      (",quantity,", ",quantity,{}"), (",quantity,", ",quantity,\"\""), (",quantity,", ",\"quantity\","),
      (",quantity,", ","),
      (#""{""a"":""b""}""#, #""{}""#), (#""{""a"":""b""}""#, #""""#), (#""{""a"":""b""}""#, "{"),
      (#""{""a"":""b""}""#, #""{""a"": 1}""#), (",t,", ",,"), (",t,", ",\"\","), (",t,", ",e\u{301},"),
      (",t,", ",a\u{0}b,"),
      ("01Z,,", "01Z,2024-01-01T00:00:01Z,"), ("01Z,,", "01Z,\"\","), ("01Z,,", "01Z,now,"), ("ABCD", "\"ABCD\""),
      (#""{""name"":""d""}""#, ""), (#""{""name"":""d""}""#, #""{""name"":""d""}" "#), ("ABCD,t", ",\r\nABCD,t"),
    ] as [(String, String)])
  func spellingsOfARowAreReadTheSame(part: String, other: String) throws {
    #expect(Self.row.contains(part))
    let header = SampleCSV.Column.allCases.map(\.rawValue).joined(separator: ",")
    for end in ["\r\n", "\n", "\r", "\n\n"] {
      let category = Self.row.replacing(",1.0,m,,", with: ",,,3,").replacing("quantity", with: "category")
      let rows = [Self.row, category, Self.row.replacing(part, with: other), Self.row]
      try expectSame(Array(([header] + rows).joined(separator: end).utf8), .csv)
      try expectSame(Array(([header] + rows + [""]).joined(separator: end).utf8), .csv)
    }
  }

  @Test(arguments: formats)
  func manyDictionariesBeginAnew(format: SampleFile.Format) throws {
    var maker = SampleMaker(seed: 9)
    let samples = (0..<9000).map { number in
      var sample = maker.steps(at: number)
      sample.source.name = "Source \(number)"
      sample.metadata = ["n": .integer(Int64(number % 3000))]
      return sample
    }
    let reading = try SampleReading(try SampleText(samples, format).bytes, format, batchSize: 1000)
    #expect(reading.samples == samples)
    #expect(reading.report.records == [SampleMaker.stepCount.rawValue: 9000])
  }

  /// A file on disk is read on its own thread.
  @Test(arguments: formats)
  func aFileIsReadOnAThreadOfItsOwn(format: SampleFile.Format) throws {
    var maker = SampleMaker(seed: 10)
    let samples = (0..<5000).map { maker.steps(at: $0) }
    let bytes = try SampleText(samples, format).bytes
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = try folder.write(bytes, to: "file")
    let file = SampleFile(format: format, path: path, totalBytes: Int64(bytes.count))
    var (read, last): ([Sample], Int64) = ([], 0)
    let report = try file.read(batchSize: 300) {
      last = $0
    } deliver: { batch in
      #expect(batch.count <= 300)
      let expander = try ChangeExpander(batch.changes)
      read += try batch.changes.samples.map(expander.sample)
    }
    #expect(read == samples)
    #expect(report.isComplete)
    #expect(last > 0 && last <= Int64(bytes.count))
    struct Stop: Error {}
    #expect(throws: Stop.self) { _ = try file.read(batchSize: 300) { _ in throw Stop() } }
  }
}
