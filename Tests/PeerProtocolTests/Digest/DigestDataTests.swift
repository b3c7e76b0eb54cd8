import Foundation
import HealthModel
import PeerProtocol
import Testing

@Suite struct DigestDataTests {
  private static let zero = String(repeating: "0", count: 32)

  private func decode(_ types: String, version: Int = 1) throws -> DigestData {
    let json = #"{"version":\#(version),"token":"t","filter":{},"types":\#(types),"later":[]}"#
    return try JSONDecoder().decode(DigestData.self, from: Data(json.utf8))
  }

  private func month(
    _ month: String = "2024-06", count: String = "1", sum: String = zero, contents: String? = nil
  ) -> String {
    let contents = contents.map { #","contents":"\#($0)""# } ?? ""
    return #"{"month":"\#(month)","samples":{"count":\#(count),"sum":"\#(sum)"},"#
      + #""deleted":{"count":0,"sum":"\#(Self.zero)"}\#(contents)}"#
  }

  private func types(_ months: String...) -> String {
    #"[{"type":"A","months":[\#(months.joined(separator: ","))]}]"#
  }

  @Test func aDigestTravelsUnchanged() throws {
    let digest = RecordDigest(types: [
      TypeDigest(
        type: SampleType(""),
        months: [
          MonthDigest(
            month: CalendarMonth(number: -99_999), samples: SetDigest(count: 3, sum: .max),
            tombstones: SetDigest(count: 1, sum: 1), contents: 5),
          MonthDigest(
            month: CalendarMonth(number: 650), samples: SetDigest(count: 1, sum: 0),
            tombstones: SetDigest(count: 0, sum: 0), contents: 0),
        ]),
      TypeDigest(
        type: SampleType("of.tomorrow 😴\0"),
        months: [MonthDigest(month: CalendarMonth(number: 0), samples: .empty, tombstones: SetDigest(count: 2, sum: 9))]
      ),
    ])
    let filter = SampleFilter(
      types: [SampleType("a")], earliest: Timestamp(microseconds: 1), end: Timestamp(microseconds: 2))
    let data = DigestData(digest, token: "t", filter: filter)
    let arrived = try JSONDecoder().decode(DigestData.self, from: JSONEncoder().encode(data))
    #expect(arrived == data)
    #expect(try arrived.digest() == digest)
    #expect(arrived.filter == filter)
  }

  @Test func anotherVersionIsRefused() throws {
    let data = try decode("[]", version: 2)
    #expect(throws: DigestDataError.otherVersion(2)) { try data.digest() }
    #expect(try decode("[]").digest().types.isEmpty)
  }

  @Test func whatIsNotADigestIsRefused() throws {
    let huge = "9000000000000000"
    for bad in [
      types(month("2024-6")), types(month("June")), types(month("")), types(month(count: "-1")),
      types(month(sum: "")), types(month(sum: "0")), types(month(sum: Self.zero.uppercased() + "0")),
      types(month(sum: String(repeating: "F", count: 32))), types(month(contents: "x")),
      types(month("2024-06"), month("2024-06")), types(month("2024-07"), month("2024-06")),
      types(month("2024-06", count: huge), month("2024-07", count: huge)),
      types(month(count: "\(Int.max)")),
      #"[{"type":"B","months":[]},{"type":"A","months":[]}]"#, #"[{"type":"A","months":[]},{"type":"A","months":[]}]"#,
    ] {
      let data = try decode(bad)
      #expect(throws: DigestDataError.self, "\(bad)") { try data.digest() }
    }
    // Two spellings of a text are two types.
    #expect(
      try decode(#"[{"type":"e\#u{301}","months":[]},{"type":"\#u{E9}","months":[]}]"#).digest().types.count == 2)
  }

  @Test func whatIsNotEvenItsJSONIsNone() {
    for bad in [
      "null", "{}", "[[]]", "[{}]", #"[{"type":1,"months":[]}]"#, types(month(count: "1.5")),
      types(month(count: "1e99")),
      types(month(count: "\"1\"")), types("null"),
    ] {
      #expect(throws: DecodingError.self, "\(bad)") { try decode(bad) }
    }
  }
}
