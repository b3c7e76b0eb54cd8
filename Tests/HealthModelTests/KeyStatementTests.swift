import Foundation
import HealthModel
import TestSupport
import Testing

/// Tests of the stored and transferred form of statements about a key with several records.
@Suite struct KeyStatementTests {
  private static let key = UUID(uuid: (0x5E, 0x3B, 0x1A, 0x7C, 0, 0, 0x50, 0, 0x80, 0, 0, 0, 0, 0, 0, 1))
  private static let said = Timestamp(seconds: 1_704_276_000)

  private func meal(_ values: Double...) -> [Sample] {
    values.map { value in
      let noon = Timestamp(seconds: 1_704_110_400)
      return Sample(
        uuid: Self.key, type: SampleType("HKQuantityTypeIdentifierDietaryEnergyConsumed"), start: noon, end: noon,
        created: noon, source: Source(name: "Food"), payload: .quantity(Quantity(value, "kcal")))
    }
  }

  private func all(_ samples: [Sample]) -> [KeyStatement] {
    KeyStatement.all(of: samples, key: Self.key, said: Self.said)
  }

  @Test func areFrozen() throws {
    let statement = try #require(all(meal(250, 410)).last)
    let halves = (
      "5e3b1a7c00005000800000000000000100060e07ad944800", "0002d852772ca2ff47d23239ca335060b2fe598140312b59"
    )
    #expect(String(decoding: try JSONEncoder().encode(statement), as: UTF8.self) == "\"\(halves.0)\(halves.1)\"")
  }

  @Test func equalValuesHaveRanks() {
    let statements = all(meal(250, 250, 410))
    #expect(Set(statements.map(\.content)).count == 3)
    #expect(Set(statements.map(\.stamp)).count == 1)
    #expect(all(meal(250, 410)).map(\.content) == [statements[0], statements[2]].map(\.content))
  }

  @Test func theSameInAnotherUnitIsTheSame() {
    var other = meal(250, 410)
    for (index, joules) in [1046.0, 1715.44].enumerated() { other[index].payload = .quantity(Quantity(joules, "kJ")) }
    #expect(all(other) == all(meal(250, 410)))
  }

  @Test func ofOneTimeMoreRecordsAreGreater() {
    let (two, three) = (all(meal(250, 410))[0].stamp, all(meal(250, 250, 410))[0].stamp)
    #expect(two < three)
    #expect(three < KeyStatement.Stamp(said: Timestamp(microseconds: two.said.microseconds + 1), values: two.values))
  }

  @Test func comeBackFromBytesAndJSON() throws {
    var maker = SampleMaker(seed: 3)
    for _ in 0..<200 {
      let statement = KeyStatement(
        key: maker.uuid(), stamp: .init(said: maker.timestamp(), values: UInt64.random(in: 0 ... .max)),
        content: maker.uuid())
      #expect(KeyStatement(bytes: statement.bytes) == statement)
      let json = try JSONEncoder().encode(statement)
      #expect(try JSONDecoder().decode(KeyStatement.self, from: json) == statement)
    }
  }

  @Test(arguments: ["", "00", String(repeating: "0", count: 95), String(repeating: "0", count: 98)])
  func otherTextsAreNone(text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(KeyStatement.self, from: Data("\"\(text)\"".utf8))
    }
    #expect(throws: DecodingError.self) {
      let foreign = String(repeating: "g", count: 2 * KeyStatement.byteCount)
      return try JSONDecoder().decode(KeyStatement.self, from: Data("\"\(foreign)\"".utf8))
    }
  }
}
