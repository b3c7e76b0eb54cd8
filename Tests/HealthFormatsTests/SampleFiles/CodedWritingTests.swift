import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests that files written from coded samples are byte for byte the same as files written sample by sample.
@Suite struct CodedWritingTests {
  private func expectSame(_ pages: [[Sample]], _ writer: some SampleFileWriter) throws {
    var (one, other) = (writer, writer)
    var (bytes, expected): ([UInt8], [UInt8]) = ([], [])
    one.begin(into: &bytes)
    other.begin(into: &expected)
    for page in pages {
      var coder = ChangeCoder()
      for sample in page { try coder.add(sample) }
      try one.append(coder.changes, to: &bytes)
      // As a store gives them back.
      for sample in coder.changes.samples { try other.append(try coder.changes.sample(sample), to: &expected) }
    }
    one.end(into: &bytes)
    other.end(into: &expected)
    if bytes == expected { return }
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    let expectedLines = expected.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (line, expected) in zip(lines, expectedLines) where line != expected {
      Issue.record("\(String(decoding: line, as: UTF8.self)) for \(String(decoding: expected, as: UTF8.self))")
    }
    #expect(lines.count == expectedLines.count)
  }

  private func expectSame(_ pages: [[Sample]]) throws {
    try expectSame(pages, SampleJSONWriter(exported: Timestamp(seconds: 0)))
    try expectSame(pages, SampleCSVWriter())
  }

  @Test func everyOddityIsWrittenTheSame() throws {
    let samples = SampleMaker.edgeCases
    try expectSame([samples, [], Array(samples.prefix(3))])
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func anySampleIsWrittenTheSame(seed: UInt64) throws {
    var maker = SampleMaker(seed: seed)
    try expectSame((0..<4).map { _ in maker.samples(100) })
  }

  @Test func whatIsNoMetadataIsAnError() throws {
    var maker = SampleMaker(seed: 1)
    var coder = ChangeCoder()
    var sample = maker.steps(at: 0)
    sample.metadata = ["a": "b"]
    try coder.add(sample)
    var changes = coder.changes
    changes.metadata = ["["]
    var bytes: [UInt8] = []
    var json = SampleJSONWriter(exported: Timestamp(seconds: 0))
    #expect(throws: DecodingError.self) { try json.append(changes, to: &bytes) }
    #expect(throws: DecodingError.self) { try SampleCSVWriter().append(changes, to: &bytes) }
  }
}
