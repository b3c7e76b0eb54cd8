import Foundation
import HealthModel
import Testing

@testable import HealthFormats

@Suite struct DamageTests {
  @Test func atEveryCutOnlyWholeElementsAreRead() throws {
    let text = StandardExport.text
    let bytes = Array(text.utf8)
    let whole = try Reading(bytes: bytes)
    let samples = Set(whole.samples.map(\.payload))
    let root = try #require(text.range(of: "<HealthData locale=\"en_DE\">")).upperBound
    let start = text.utf8.distance(from: text.startIndex, to: root)
    var last = 0
    for cut in stride(from: start, to: bytes.count - 2, by: 7) {
      let reading = try Reading(bytes: Array(bytes[..<cut]), chunkSize: 512)
      #expect(!reading.report.isComplete)
      let end = try #require(reading.report.end)
      #expect(end.offset <= Int64(cut))
      #expect(reading.samples.allSatisfy { samples.contains($0.payload) || $0.payload.kind == "correlation" })
      #expect(reading.recordCount >= last)
      last = reading.recordCount
    }
    #expect(last == whole.recordCount)
  }

  @Test func aCutIsReportedWhereItIs() throws {
    let text = ExportText(ExportText.record(at: 1), ExportText.record(at: 2)).text
    let second = try #require(text.ranges(of: "<Record").last?.lowerBound)
    let cut = text.index(second, offsetBy: 30)
    let reading = try Reading(String(text[..<cut]))
    let offset = text.utf8.distance(from: text.startIndex, to: second)
    #expect(reading.report.end == TextPosition(line: 9, column: 2, offset: Int64(offset)))
    #expect(reading.samples.count == 1)
  }

  @Test func anOpenRecordAtTheEndIsNotWhole() throws {
    let text = ExportText(ExportText.record(at: 1), ExportText.record(at: 2, children: ExportText.metadata("k", "v")))
      .text
    let cut = try #require(text.range(of: "</Record>")).lowerBound
    #expect(try Reading(String(text[..<cut])).samples.count == 1)
  }

  /// Reading arbitrary bytes ends with samples or an error.
  @Test func flippedBytesNeverCrash() {
    let bytes = Array(StandardExport.text.utf8)
    var generator = SeededGenerator(42)
    for round in 0..<3000 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...12, using: &generator) {
        damaged[Int.random(in: damaged.indices, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
      }
      _ = try? Reading(bytes: damaged, chunkSize: [64, 1000, 1 << 16][round % 3])
    }
  }

  /// The pieces are random sequences of characters with a meaning in XML.
  @Test func piecesOfXMLInAnyOrderNeverCrash() {
    let pieces = [
      "<", ">", "/>", "</", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", "\"", "'", "=", " ", "\n", "&", ";", "&#x",
      "Record",
      "Correlation", "Workout", "MetadataEntry", "HealthData", "<Record", "</Record>", " type=\"x\"",
      " startDate=\"2024-06-15 10:00:00 +0200\"",
      "<HealthData>", "</HealthData>", "<Workout", "<Correlation", "</Correlation>", "\u{0}", "é", "<WorkoutRoute>",
      "<Me ", "<!DOCTYPE", "1e5",
    ]
    var generator = SeededGenerator(11)
    for round in 0..<3000 {
      let count = Int.random(in: 1...60, using: &generator)
      let text = "<HealthData>" + (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
      _ = try? Reading(text, chunkSize: [1, 5, 4096][round % 3])
    }
  }

  @Test func chunksNeverMatterHoweverDamaged() {
    let bytes = Array(StandardExport.text.utf8)
    var generator = SeededGenerator(77)
    for _ in 0..<200 {
      var damaged = bytes
      for _ in 0..<20 {
        damaged[Int.random(in: damaged.indices, using: &generator)] =
          Array("<>\"'/=&!- ".utf8).randomElement(using: &generator) ?? 0
      }
      let whole = try? Reading(bytes: damaged)
      let pieces = try? Reading(bytes: damaged, chunkSize: 61)
      #expect(whole?.samples == pieces?.samples)
      #expect(whole?.report.isComplete == pieces?.report.isComplete)
    }
  }

  @Test func manyDifferentValuesUnderOneKeyAreAllKept() throws {
    let children = (0..<20_000).map { ExportText.metadata("k", "\($0)") }.joined()
    let reading = try Reading(ExportText(ExportText.record(children: children)))
    #expect(reading.samples.first?.metadata.count == 20_000)
  }

  @Test func aTagWithTooManyAttributesIsPassedOver() throws {
    let attributes = (0..<5000).map { "a\($0)=\"\"" }.joined(separator: " ")
    let reading = try Reading(ExportText(ExportText.record(extra: attributes), ExportText.record(at: 1)))
    #expect(reading.samples.count == 1)
    #expect(reading.report.skipped["malformed tag"]?.count == 1)
  }

  @Test func remarksOnEveryRecordAreCounted() throws {
    let records = (0..<5000).map { ExportText.record(at: $0, value: "1,5", extra: "new=\"1\"") }
    let reading = try Reading(ExportText(records))
    #expect(reading.report.remarks["decimal comma"] == .init(count: 5000, lines: [8, 9, 10, 11, 12]))
    #expect(reading.report.remarks["Record with an unknown attribute new"]?.count == 5000)
  }
}
