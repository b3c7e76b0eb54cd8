import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests that the person of a file is known before any of its samples is imported.
@Suite struct SampleFilePersonTests {
  private static let birth = "1986-05-17"

  private func reading(_ trait: Person.Trait, _ value: String, created: Int64) -> Sample {
    Sample(
      uuid: UUID(), type: trait.type, start: Timestamp(seconds: 0), end: Timestamp(seconds: 0),
      created: Timestamp(seconds: created), source: Source(name: "Health"),
      payload: .characteristic(CharacteristicValue(value: value)))
  }

  /// Samples with the person in the middle, and texts that only look like a person.
  private var samples: [Sample] {
    var maker = SampleMaker(seed: 3)
    var steps = (0..<60).map { maker.steps(at: $0) }
    steps[3].metadata = ["note": "HKCharacteristicTypeIdentifierDateOfBirth,\n1900-01-01"]
    let readings = [
      reading(.dateOfBirth, "1987-01-01", created: 5), reading(.dateOfBirth, Self.birth, created: 9),
      reading(.biologicalSex, "HKBiologicalSexNotSet", created: 9),
      reading(.bloodType, "HKBloodTypeAPositive", created: 9),
    ]
    return Array(steps[..<40]) + readings + Array(steps[40...])
  }

  private func expectPerson(
    _ bytes: [UInt8], _ format: SampleFile.Format, chunkSizes: [Int] = [7, 100, 4096, 1 << 20]
  ) throws {
    for chunkSize in chunkSizes {
      let person = try SampleFile(format: format, bytes: bytes).personReadings(chunkSize: chunkSize).person
      #expect(person[.dateOfBirth] == Self.birth, "chunks of \(chunkSize)")
      #expect(person[.bloodType] == "HKBloodTypeAPositive")
      #expect(person[.biologicalSex] == nil)
    }
  }

  @Test(arguments: SampleFileTests.formats)
  func itIsFoundWhereverItStands(format: SampleFile.Format) throws {
    try expectPerson(try SampleText(samples, format).bytes, format)
  }

  @Test(arguments: SampleFileTests.formats)
  func aFileWithoutCharacteristicsIsNobodys(format: SampleFile.Format) throws {
    var maker = SampleMaker(seed: 3)
    let bytes = try SampleText((0..<20).map { maker.steps(at: $0) }, format).bytes
    #expect(try SampleFile(format: format, bytes: bytes).person() == Person())
  }

  /// Other programs write everything on a single line, or each member on its own line.
  @Test func otherLayoutsOfJSONAreRead() throws {
    let text = String(decoding: try SampleText(samples, .json).bytes, as: UTF8.self)
    try expectPerson(Array(text.replacing("\",\"", with: "\",\n \"").utf8), .json)
    // Longer than a line may be, and the person at its end.
    let filler = String(repeating: " ", count: 300_000)
    let line = text.replacing("\n", with: "").replacing("\"samples\":[", with: "\"samples\":[\(filler)")
    try expectPerson(Array(line.utf8), .json, chunkSizes: [4096, 1 << 20])
  }

  /// JSON may escape letters, though hpeer doesn't.
  @Test(arguments: [SampleFile.Format.json, .changeFeed])
  func escapedIdentifiersAreRead(format: SampleFile.Format) throws {
    let text = String(decoding: try SampleText(samples, format).bytes, as: UTF8.self)
    for escaped in ["\\u0048KCharacteristic", "HK\\u0043haracteristic", "HKCharacteristi\\u0063"] {
      let hidden = text.replacing("\"HKCharacteristic", with: "\"" + escaped)
      #expect(hidden != text)
      try expectPerson(Array(hidden.utf8), format)
    }
    // A control character hides nothing, and is found in files that hpeer wrote.
    let bell = text.replacing("\"note\":\"", with: "\"note\":\"\\u0007")
    #expect(bell != text)
    try expectPerson(Array(bell.utf8), format)
  }

  @Test func whatABatchSaysOfThePersonIsKnownBefore() throws {
    let file = SampleFile(format: .json, bytes: try SampleText(samples, .json).bytes)
    var readings = try file.personReadings()
    _ = try file.read(batchSize: 7) { batch in
      try readings.add(batch)
      #expect(readings.person[.dateOfBirth] == Self.birth)
    }
    // The file has been written into meanwhile.
    var coder = ChangeCoder()
    try coder.add(reading(.dateOfBirth, "1987-01-01", created: 10))
    try readings.add(SampleBatch(changes: coder.changes))
    #expect(readings.person[.dateOfBirth] == "1987-01-01")
  }

  @Test func otherColumnsOfTablesAreRead() throws {
    let text = String(decoding: try SampleText(samples, .csv).bytes, as: UTF8.self)
    let rows = text.components(separatedBy: "\r\n").map { $0.isEmpty ? $0 : "\"a\nb\",\($0)" }
    try expectPerson(Array(rows.joined(separator: "\r\n").utf8), .csv)
  }

  @Test(arguments: SampleFileTests.formats)
  func ofADamagedFileCountsWhatStandsBeforeTheDamage(format: SampleFile.Format) throws {
    let bytes = try SampleText(samples, format).bytes
    try expectPerson(Array(bytes.dropLast(700)), format)
    try expectPerson(Array(bytes.dropLast(700)) + Array("{\"]".utf8), format)
    for length in stride(from: 0, to: bytes.count, by: 97) {
      _ = try SampleFile(format: format, bytes: Array(bytes.prefix(length))).person()
    }
  }

  @Test func theCallerMayStop() throws {
    struct Stop: Error {}
    let file = SampleFile(format: .json, bytes: try SampleText(samples, .json).bytes)
    #expect(throws: Stop.self) { try file.person { _ in throw Stop() } }
  }

  @Test func anExportSaysItInMe() throws {
    let traits = Person.Trait.allCases.map(\.rawValue)
    let text = ExportText([
      #"<Me \#(traits[0])="1986-05-17" \#(traits[1])="HKBiologicalSexNotSet" \#(traits[2])=""/>"#
    ])
    let person = try Reading(text).survey.person
    #expect(person == Person(characteristics: [Person.Trait.dateOfBirth.rawValue: "1986-05-17"]))
  }
}
