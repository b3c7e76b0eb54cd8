import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// Tests that the two ways of reading records agree. With small chunks, no record is complete in the buffer, and all
/// are read in the general way.
@Suite struct PlainRecordTests {
  @Test(arguments: 1...40)
  func bothWaysGiveTheSame(seed: Int) throws {
    var maker = RecordMaker(seed: UInt64(seed))
    let text = ExportText((0..<150).map { _ in maker.record() }).text
    let plain = try Reading(text)
    let general = try Reading(text, chunkSize: 9)
    #expect(plain.samples == general.samples, "seed \(seed)")
    #expect(plain.report == general.report, "seed \(seed)")
    #expect(plain.survey.records == general.survey.records, "seed \(seed)")
    #expect(plain.survey.sources == general.survey.sources, "seed \(seed)")
    #expect(plain.samples.count > 100)
  }

  @Test func metadataIsWrittenAsItIsElsewhere() throws {
    let records = [
      ExportText.metadata("b", "1") + ExportText.metadata("a", "2"), ExportText.metadata("é", "ü 'x'"),
      ExportText.metadata("a", "back\\slash"), ExportText.metadata("a", "&amp;"),
      ExportText.metadata("a", "1") + " \n ",
    ].enumerated().map { ExportText.record(at: $0, children: $1) }
    let export = AppleHealthExport(Array(ExportText(records).text.utf8))
    var texts: [String] = []
    var metadata: [Metadata] = []
    _ = try export.read(try export.survey()) { batch in
      let expander = try ChangeExpander(batch.changes)
      for row in batch.changes.samples {
        texts.append(batch.changes.metadata[Int(try #require(row.metadata))])
        metadata.append(try expander.sample(row).metadata)
      }
    }
    #expect(texts == metadata.map(MetadataText.encode))
    #expect(texts.first == #"{"a":"2","b":"1"}"#)
    #expect(texts.count == 5)
  }

  @Test func manyDictionariesBeginAnew() throws {
    let records = (0..<9000).map { ExportText.record(at: $0, source: "Source \($0)") }
    let reading = try Reading(ExportText(records).text, batchSize: 1000)
    #expect(Set(reading.samples.map(\.source.name)).count == 9000)
    #expect(reading.recordCount == 9000)
    #expect(reading.survey.sources.count == 4096)
  }

  @Test func instantsBefore1970HaveTheIdentitiesOfOthers() throws {
    for year in ["1969", "1970", "0001", "9999"] {
      let record = ExportText.record().replacing("2024-06", with: "\(year)-01")
      let sample = try #require(try Reading(ExportText(record)).samples.first)
      #expect(
        sample.uuid
          == SampleIdentity.uuid(
            kind: "record", type: sample.type, source: "Watch", start: sample.start, end: sample.end,
            created: sample.created, ordinal: 0))
    }
  }
}

/// A generator of records of every form, from a seed.
private struct RecordMaker {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed) }

  private mutating func one(of texts: [String]) -> String { texts.randomElement(using: &generator) ?? "" }
  private mutating func rarely(_ chance: Int = 12) -> Bool { Int.random(in: 0..<chance, using: &generator) == 0 }

  mutating func record() -> String {
    let second = Int.random(in: 0..<400, using: &generator)
    let date = ExportText.date(second)
    let isSleep = rarely(4)
    var attributes = [
      ("type", isSleep ? ExportText.sleep : one(of: [ExportText.heartRate, ExportText.distance, "Tomorrow"])),
      ("sourceName", one(of: ["Watch", "Robin’s&#160;Watch", "Cuff &amp; Co", "&bad;", "Phone"])),
      ("sourceVersion", one(of: ["9.4", "10", "&lt;1"])),
      ("device", one(of: ["&lt;&lt;HKDevice: 0x1&gt;, name:W, hardware:Watch6,2&gt;", "Some", ""])),
      ("unit", one(of: ["km", "count/min", "mL/min·kg", ""])), ("creationDate", date), ("startDate", date),
      ("endDate", one(of: [date, ExportText.date(second + 60), "soon"])),
      (
        "value",
        isSleep
          ? one(of: ["HKCategoryValueSleepAnalysisAsleepREM", "HKCategoryValueNew", "7"])
          : one(of: ["72", "1.5e3", "0.1", "1,5", "n/a", "-0"])
      ),
    ]
    if isSleep, !rarely() { attributes.removeAll { $0.0 == "unit" } }
    for _ in 0..<2 where rarely(6) { attributes.remove(at: Int.random(in: attributes.indices, using: &generator)) }
    if rarely() { attributes.append(("new", "1")) }
    if rarely(), let twice = attributes.randomElement(using: &generator) { attributes.append(twice) }
    if rarely(4) { attributes.shuffle(using: &generator) }
    var text = "<Record"
    for (name, value) in attributes {
      text += rarely(40) ? "  " : rarely(40) ? "\n" : " "
      text += rarely(40) ? "\(name)='\(value)'" : rarely(40) ? "\(name) = \"\(value)\"" : "\(name)=\"\(value)\""
    }
    if rarely(3) { return text + ">" + children() + "</Record>" }
    return text + (rarely(40) ? " />" : rarely(40) ? "></Record >" : "/>")
  }

  private mutating func children() -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      text += one(of: ["", "\n  ", "<!-- <Record/> -->"].filter { $0.isEmpty || !rarely(3) })
      text += ExportText.metadata(
        one(of: ["HKTimeZone", "a", "A", "é", "k&amp;"]), one(of: ["Europe/Berlin", "1", "\\", "&quot;", "\u{B}", ""]))
    }
    if rarely() { text += "<Future/>" }
    return text
  }
}
