import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests of invalid files: the result is a single clear error with a position, or everything that is intact.
@Suite struct HostileSampleFileTests {
  private let samples: [Sample]

  init() {
    var maker = SampleMaker(seed: 7)
    samples = (0..<5).map { maker.steps(at: $0) }
  }

  private func failure(_ text: String, _ format: SampleFile.Format) -> SampleFileError? {
    do {
      _ = try SampleReading(text, format)
      return nil
    } catch {
      return error as? SampleFileError
    }
  }

  /// The chunk may end anywhere, even right after a number that is skipped.
  @Test(arguments: 1...12)
  func whatIsPassedOverMayEndWithAChunk(chunkSize: Int) throws {
    let text = Array(#"{"a":12,"b":[true,"x"],"c":null ,"d":7}"#.utf8)
    var scanner = JSONScanner(source: MemorySource(text), path: "memory", chunkSize: chunkSize)
    try scanner.beginObject()
    var keys: [String] = []
    while let key = try scanner.nextKey() {
      keys.append(key)
      try scanner.skipValue()
    }
    try scanner.end()
    #expect(keys == ["a", "b", "c", "d"])
  }

  /// The last of several adjacent values isn't an object and ends with the file.
  @Test(arguments: 1...9)
  func theLastValueMayEndWithTheFile(chunkSize: Int) throws {
    var scanner = JSONScanner(source: MemorySource(Array("[1]true".utf8)), path: "memory", chunkSize: chunkSize)
    #expect(try Array(scanner.value(limit: 100).bytes) == Array("[1]".utf8))
    #expect(try Array(scanner.value(limit: 100).bytes) == Array("true".utf8))
    #expect(try scanner.peek() == nil)
  }

  /// The UTF-8 byte order mark is special only at the beginning of the file, not at the beginning of a chunk.
  @Test(arguments: [1, 3, 5, 4096])
  func bytesOfAMarkElsewhereAreText(chunkSize: Int) throws {
    let text = [0xEF, 0xBB, 0xBF] + Array("a,b\n".utf8) + [0xEF, 0xBB, 0xBF] + Array("c,d\n".utf8)
    var scanner = CSVScanner(source: MemorySource(text), path: "memory", chunkSize: chunkSize)
    #expect(try scanner.row(limit: 100)?.fields.map(\.text) == ["a", "b"])
    #expect(try scanner.row(limit: 100)?.fields.map(\.text) == ["\u{FEFF}c", "d"])
  }

  /// Samples that no other machine accepts are skipped, and the rest is imported.
  @Test(arguments: SampleFileTests.formats)
  func samplesThatCouldNotTravelAreLeftOut(format: SampleFile.Format) throws {
    // What is nested deep weighs more, and takes less time than as much side by side.
    let leaves = JSONValue.array(Array(repeating: .string(""), count: 12_000))
    let heaviest = (0..<100).reduce(leaves) { value, _ in .array([value]) }
    let long = String(repeating: "a", count: 5 << 20)
    var heavy = Array(repeating: samples[1], count: 5)
    heavy[0].payload = .clinicalRecord(
      ClinicalRecord(identifier: "a", resource: heaviest))
    heavy[1].metadata = ["a": .string(long)]
    heavy[2].source.name = long
    heavy[3].payload = .unknown(kind: "of tomorrow", content: .string("\u{1}" + String(repeating: long, count: 5)))
    // Each as large as it may be, and both too large together.
    heavy[4].payload = .unknown(kind: "of tomorrow", content: .string(String(repeating: "a", count: (24 << 20) - 100)))
    heavy[4].metadata = ["a": .string(String(repeating: "a", count: (4 << 20) - 2_000))]
    for index in heavy.indices { heavy[index].uuid = UUID() }
    // An unknown payload as large as one may be, in words that need no decoding.
    var large = samples[2]
    large.payload = .unknown(kind: "of tomorrow", content: heaviest)
    let reading = try SampleReading(
      try SampleText([samples[0]] + heavy + [large, samples[3]], format).bytes, format)
    #expect(reading.samples.map(\.uuid) == [samples[0], large, samples[3]].map(\.uuid))
    let finding = try #require(
      reading.report.skipped["\(samples[1].type.rawValue): \(Self.tooLarge)"])
    #expect(finding.count == 5)
    #expect(finding.lines.count == 5)
  }

  private static let tooLarge = "a sample larger than other machines take"

  /// The samples are nested more deeply than a payload may be, in few bytes.
  @Test(arguments: SampleFileTests.formats)
  func samplesThatAreTooDeepAreLeftOut(format: SampleFile.Format) throws {
    func nest(_ depth: Int) -> JSONValue { (0..<depth).reduce(JSONValue.null) { value, _ in .array([value]) } }
    var (deep, deepest) = (samples[1], samples[2])
    deep.payload = .unknown(kind: "of tomorrow", content: nest(120))
    deepest.payload = .unknown(kind: "of tomorrow", content: nest(130))
    let text = try SampleText([samples[0], deep, deepest, samples[3]], format)
    let reading = try SampleReading(text.bytes, format)
    #expect(reading.samples == [samples[0], deep, samples[3]])
    #expect(reading.report.skipped["\(deepest.type.rawValue): \(Self.tooLarge)"]?.count == 1)
  }

  @Test func pointsThatCouldNotTravelAreLeftOut() throws {
    let nest = String(repeating: "[", count: 150) + String(repeating: "]", count: 150)
    let long = String(repeating: "a", count: 5 << 20)
    let points = ["", ",\"a\":\(nest)", ",\"a\":\"\(long)\""].map {
      #"{"date":"2024-06-15 08:00:00 +0000","qty":5\#($0)}"#
    }
    let reading = try SampleReading(
      autoExport:
        #"{"data":{"metrics":[{"name":"step_count","units":"count","data":[\#(points.joined(separator: ","))]}]}}"#)
    #expect(reading.samples.count + reading.readings.count == 1)
    #expect(reading.report.skipped["hae.step_count: \(Self.tooLarge)"]?.count == 2)
  }

  @Test(arguments: SampleFileTests.formats)
  func cutAnywhereGivesWhatIsWhole(format: SampleFile.Format) throws {
    let whole = try SampleText(samples, format).bytes
    for length in 0..<whole.count {
      let cut = Array(whole.prefix(length))
      let reading = try SampleReading(cut, format)
      #expect(reading.samples == Array(samples.prefix(reading.samples.count)), "cut at \(length)")
      // Between two rows or lines nothing shows that there were more.
      if reading.report.isComplete {
        let tail = Array(whole[..<length].suffix(2)) + Array(whole[length...].prefix(2))
        #expect(format != .json || length >= whole.count - 1, "cut at \(length)")
        #expect(length == 0 || format == .json || tail.contains(0x0A), "cut at \(length)")
      } else {
        #expect(reading.report.end != nil)
      }
    }
  }

  @Test(arguments: [
    (#"{"format":"hpeer","version":1,"samples":[{"uuid":"x"}]}"#, 1, 42),
    ("{\"format\":\"hpeer\",\"version\":1,\"samples\":[\n\n  nonsense]}", 3, 3),
    (#"{"format":"hpeer","version":1,"samples":[1}"#, 1, 42),
    (#"{"format":"hpeer","version":1,"samples":[]} x"#, 1, 45),
    (#"{"format":"other","version":1,"samples":[]}"#, 1, 18),
    (#"{"format":"hpeer","samples":[]}"#, 1, 29),
    (#"{"format":"hpeer","version":1}"#, 1, 31),
    (#"[]"#, 1, 1),
  ])
  func theErrorSaysWhere(text: String, line: Int, column: Int) throws {
    guard case .malformed(_, _, let position)? = failure(text, .json) else {
      Issue.record("\(String(describing: failure(text, .json)))")
      return
    }
    #expect(position.line == line)
    #expect(position.column == column)
    #expect(position.offset == Int64(text.utf8.prefix { _ in true }.count) || position.offset < text.utf8.count)
  }

  @Test func whatIsMissingInASampleIsNamed() {
    let text = #"{"added":{"uuid":"00000000-0000-0000-0000-000000000001","type":"x","kind":"quantity"}}"#
    guard case .malformed(_, let detail, _)? = failure(text, .changeFeed) else {
      Issue.record("was not refused")
      return
    }
    #expect(detail.contains("missing"), "\(detail)")
  }

  @Test func aNewerVersionIsNamed() {
    #expect(
      failure(#"{"format":"hpeer","version":2,"samples":[]}"#, .json) == .newerVersion(path: "memory", version: 2))
  }

  @Test func nestingEndsSomewhere() {
    let deep = String(repeating: "[", count: 100_000)
    for format in [SampleFile.Format.json, .changeFeed] {
      guard case .malformed? = failure("{\"x\":\(deep)", format) else {
        Issue.record("\(format)")
        continue
      }
    }
  }

  @Test func aValueWithoutEndIsRefusedBeforeMemoryIs() throws {
    final class Endless: ByteSource {
      func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
        buffer.update(repeating: UInt8(ascii: "a"), count: count)
        return count
      }
      func close() {}
    }
    var json = JSONScanner(source: Endless(), path: "p")
    #expect(throws: SampleFileError.tooLarge(path: "p", at: TextPosition(line: 1, column: 1, offset: 0))) {
      _ = try json.value(limit: 1 << 20)
    }
    var table = CSVScanner(source: Endless(), path: "p")
    #expect(throws: SampleFileError.tooLarge(path: "p", at: TextPosition(line: 1, column: 1, offset: 0))) {
      _ = try table.row(limit: 1 << 20)
    }
  }

  @Test(arguments: [
    ("uuid,type\r\nx,y\r\n", "missing"), ("%@uuid\r\n", "twice"), ("%@\r\n1,2,3\r\n4", "columns"),
    ("%@\r\nx,,,,,,,,,,,,,,,\r\n", "uuid"), ("%@\r\n\"a\"b", "quote"), ("%@\r\na\"b", "quote"),
    ("%@\r\n00000000-0000-0000-0000-000000000001,t,2024-01-01,2024-01-01,,1e,,,,s,,,,,quantity,\r\n", "value"),
    ("%@\r\n00000000-0000-0000-0000-000000000001,t,2024-01-01,later,,1,,,,s,,,,,quantity,\r\n", "end"),
    ("%@\r\n00000000-0000-0000-0000-000000000001,t,2024-01-01,2024-01-01,,,,,,s,,,,,workout,{}\r\n", "payload"),
    ("%@\r\n00000000-0000-0000-0000-000000000001,t,2024-01-01,2024-01-01,,,,1.5,,s,,,,,category,\r\n", "category"),
  ])
  func badTables(text: String, word: String) {
    let header = SampleCSV.Column.allCases.map(\.rawValue).joined(separator: ",")
    let text = text.replacing("%@uuid", with: header + ",uuid").replacing("%@", with: header)
    guard case .malformed(_, let detail, let position)? = failure(text, .csv) else {
      Issue.record("was not refused: \(text)")
      return
    }
    #expect(detail.contains(word), "\(detail)")
    #expect(position.line <= 2)
  }

  @Test func everyErrorIsOneSentence() {
    let place = TextPosition(line: 1, column: 2, offset: 3)
    let errors: [SampleFileError] = [
      .endsEarly(path: "p", at: place), .malformed(path: "p", detail: "a comma is expected", at: place),
      .tooLarge(path: "p", at: place), .newerVersion(path: "p", version: 2), .synchronisationFile(path: "p"),
    ]
    for error in errors {
      #expect(error.description.hasSuffix("."))
      #expect(!error.description.dropLast().contains(". "))
    }
  }
}
