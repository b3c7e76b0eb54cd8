import HealthModel
import PeerProtocol
import Testing

@Suite struct QueryFieldTests {
  @Test func namesAndIdentifiersSelectTypes() throws {
    #expect(
      try QueryField.types("HEARTRATE,HKQuantityTypeIdentifierStepCount,HKOfTheFuture,,") == [
        SampleType("HKQuantityTypeIdentifierHeartRate"), SampleType("HKQuantityTypeIdentifierStepCount"),
        SampleType("HKOfTheFuture"),
      ])
    #expect(try QueryField.limit("3") == 3)
  }

  /// U+0605 forms a single character with the one after it.
  @Test func aCommaSeparatesAfterWhateverItFollows() throws {
    #expect(
      try QueryField.types("HK\u{605},heartRate") == [
        SampleType("HK\u{605}"), SampleType("HKQuantityTypeIdentifierHeartRate"),
      ])
  }

  @Test func sourcesAreNamedOneByOne() throws {
    #expect(try QueryField.sources(["a, b", "", "a, b"]) == ["a, b", ""])
    #expect(throws: QueryFieldError.tooManySources) {
      try QueryField.sources(Array(repeating: "a", count: 65))
    }
    #expect(throws: QueryFieldError.tooManySources) { try QueryField.sources([String(repeating: "é", count: 2049)]) }
  }

  @Test func nothingAskedIsEverything() throws {
    #expect(try QueryField.sources([]) == nil)
    #expect(try QueryField.types(nil) == nil)
    #expect(try QueryField.limit(nil) == .max)
  }

  @Test(
    arguments: [
      ("nonsense", .unknownType), ("heartRate,nonsense", .unknownType), (" heartRate", .unknownType), ("", .noTypes),
      (",,", .noTypes),
    ] as [(Substring, QueryFieldError)])
  func otherTypesAreRefused(types: Substring, error: QueryFieldError) {
    #expect(throws: error) { try QueryField.types(types) }
  }

  @Test(arguments: ["", "0", "-1", "1.5", " 1", "1e3", "9223372036854775808", "٣", "0x10"] as [Substring])
  func otherLimitsAreRefused(limit: Substring) {
    #expect(throws: QueryFieldError.badLimit) { try QueryField.limit(limit) }
  }
}
