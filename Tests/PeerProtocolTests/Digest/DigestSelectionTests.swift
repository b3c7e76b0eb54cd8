import HealthModel
import PeerProtocol
import Testing

@Suite struct DigestSelectionTests {
  @Test func nothingAsksForEverything() throws {
    let selection = try DigestSelection(types: nil, from: nil, to: nil, deep: nil)
    #expect(selection.filter == .everything && selection.months == nil && !selection.isDeep)
    #expect(try DigestSelection(types: nil, from: nil, to: nil, deep: "0") == selection)
  }

  @Test func monthsBoundFromOneSideOrBoth() throws {
    let june = try #require(CalendarMonth("2024-06"))
    let both = try DigestSelection(types: "heartRate", from: "2024-06", to: "2024-06", deep: "1")
    #expect(both.months == june...june)
    #expect(both.isDeep)
    #expect(both.filter.types == [SampleType("HKQuantityTypeIdentifierHeartRate")])
    let later = try DigestSelection(types: nil, from: "2024-06", to: nil, deep: nil)
    #expect(later.months?.lowerBound == june)
    #expect(later.months?.contains(CalendarMonth(containing: Timestamp(microseconds: .max))) == true)
    let earlier = try DigestSelection(types: nil, from: nil, to: "2024-06", deep: nil)
    #expect(earlier.months?.upperBound == june)
    #expect(earlier.months?.contains(CalendarMonth(containing: Timestamp(microseconds: .min))) == true)
  }

  @Test(
    arguments: [
      ("nonsense", nil, nil, nil, .unknownType), ("", nil, nil, nil, .noTypes),
      (nil, "2024", nil, nil, .badMonth("from")), (nil, "2024-13", nil, nil, .badMonth("from")),
      (nil, "", nil, nil, .badMonth("from")), (nil, nil, "2024-06-01", nil, .badMonth("to")),
      (nil, "2024-06", "2024-05", nil, .emptyRange), (nil, nil, nil, "", .badFlag("deep")),
      (nil, nil, nil, "yes", .badFlag("deep")),
      (nil, nil, nil, "01", .badFlag("deep")),
    ] as [(Substring?, Substring?, Substring?, Substring?, QueryFieldError)])
  func anythingElseIsRefused(
    types: Substring?, from: Substring?, to: Substring?, deep: Substring?, error: QueryFieldError
  ) {
    #expect(throws: error) { try DigestSelection(types: types, from: from, to: to, deep: deep) }
    #expect(error.description.contains("'"))
  }
}
