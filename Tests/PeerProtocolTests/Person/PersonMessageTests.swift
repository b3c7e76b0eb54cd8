import Foundation
import PeerProtocol
import Testing

@Suite struct PersonMessageTests {
  private static let value = String(repeating: "A", count: 43)

  private func claim(_ names: [String], value: String = Self.value) throws -> PersonClaim {
    let texts = Dictionary(uniqueKeysWithValues: names.map { ($0, value) })
    let json = try JSONEncoder().encode(["person": texts])
    return try JSONDecoder().decode(PersonClaim.self, from: json)
  }

  @Test(arguments: [["d"], ["d", "ds"], ["d", "db"], ["d", "ds", "db", "dsb"]])
  func aClaimHasAValueForEachCombination(names: [String]) throws {
    #expect(Set(try claim(names).values.keys.map(\.name)) == Set(names))
  }

  /// A value that isn't compared would be a way to make more claims than are counted.
  @Test(arguments: [
    [], ["s"], ["b"], ["sb"], ["ds"], ["d", "dsb"], ["d", "ds", "db"], ["d", "x"], ["d", "ds", "db", "dsb", "dbs"],
  ])
  func otherCombinationsAreNone(names: [String]) {
    #expect(throws: DecodingError.self) { try claim(names) }
  }

  @Test(arguments: ["", "AAAA", String(repeating: "A", count: 44), String(repeating: "=", count: 43)])
  func aValueHas32Bytes(value: String) {
    #expect(throws: DecodingError.self) { try claim(["d"], value: value) }
  }

  @Test func differentClaimsHaveDifferentDigests() throws {
    let digests = try [
      claim(["d"]), claim(["d", "ds"]), claim(["d", "db"]), claim(["d"], value: "B" + String(Self.value.dropFirst())),
    ]
    .map(\.digest)
    #expect(Set(digests).count == digests.count)
    #expect(try claim(["d", "ds", "db", "dsb"]).digest == claim(["dsb", "db", "ds", "d"]).digest)
  }

  /// The mark is sent back in a header field of a request.
  @Test(arguments: ["", "a b", "a\\r\\nX: y", "a/b", String(repeating: "a", count: 68)])
  func aMarkThatIsNoneIsRefused(mark: String) {
    let json = #"{"person":"same","mark":"\#(mark)"}"#
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(PersonAnswer.self, from: Data(json.utf8)) }
  }

  @Test func anAnswerMayHaveNoMark() throws {
    let answer = try JSONDecoder().decode(PersonAnswer.self, from: Data(#"{"person":"unknown","later":1}"#.utf8))
    #expect(answer == PersonAnswer(.unknown, mark: nil))
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(PersonAnswer.self, from: Data(#"{"person":"perhaps"}"#.utf8))
    }
  }
}
