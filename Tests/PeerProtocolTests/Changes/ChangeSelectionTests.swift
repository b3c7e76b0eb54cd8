import HealthModel
import PeerProtocol
import Testing

@Suite struct ChangeSelectionTests {
  @Test func namesAndIdentifiersSelectTypes() throws {
    let selection = try ChangeSelection(
      types: "HEARTRATE,HKQuantityTypeIdentifierStepCount,HKOfTheFuture,,", limit: "3")
    #expect(
      selection.types == [
        SampleType("HKQuantityTypeIdentifierHeartRate"), SampleType("HKQuantityTypeIdentifierStepCount"),
        SampleType("HKOfTheFuture"),
      ])
    #expect(selection.limit == 3)
  }

  @Test func nothingAskedIsEverything() throws {
    let selection = try ChangeSelection(types: nil, limit: nil)
    #expect(selection.types == nil)
    #expect(selection.limit == .max)
  }

  @Test(
    arguments: [
      ("nonsense", .unknownType), ("heartRate,nonsense", .unknownType), (" heartRate", .unknownType), ("", .noTypes),
      (",,", .noTypes),
    ] as [(Substring, ChangeSelectionError)])
  func otherTypesAreRefused(types: Substring, error: ChangeSelectionError) {
    #expect(throws: error) { try ChangeSelection(types: types, limit: nil) }
  }

  @Test(arguments: ["", "0", "-1", "1.5", " 1", "1e3", "9223372036854775808", "٣", "0x10"] as [Substring])
  func otherLimitsAreRefused(limit: Substring) {
    #expect(throws: ChangeSelectionError.badLimit) { try ChangeSelection(types: nil, limit: limit) }
  }
}
