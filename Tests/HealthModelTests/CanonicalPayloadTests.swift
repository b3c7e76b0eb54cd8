import Foundation
import HealthModel
import TestSupport
import Testing

/// Tests that the hand-written payload coding gives the encoder's result.
@Suite struct CanonicalPayloadTests {
  /// - Returns: The encoder's result, or `nil` for a payload that isn't coded by hand.
  private func encoded(_ payload: Payload) throws -> String? {
    switch payload {
    case .workout(let workout): try CanonicalJSON.encode(workout)
    case .correlation(let correlation): try CanonicalJSON.encode(correlation)
    case .activitySummary(let summary): try CanonicalJSON.encode(summary)
    case .workoutRoute(let route): try CanonicalJSON.encode(route)
    case .electrocardiogram(let electrocardiogram): try CanonicalJSON.encode(electrocardiogram)
    default: nil
    }
  }

  @Test func anyPayloadIsAsTheEncoderWritesIt() throws {
    var maker = SampleMaker(seed: 51)
    var kinds: Set<String> = []
    for sample in SampleMaker.edgeCases + maker.samples(4000) {
      guard let expected = try encoded(sample.payload) else { continue }
      kinds.insert(sample.payload.kind)
      #expect(try CodedPayload(sample.payload).json == expected)
    }
    #expect(kinds == ["workout", "correlation", "activitySummary", "workoutRoute", "electrocardiogram"])
  }

  @Test func everyCharacterIsEscapedAsTheEncoderDoesIt() throws {
    let scalars = (0..<0x180).compactMap { Unicode.Scalar($0 as UInt32) } + ["\u{2028}", "\u{FEFF}", "\u{FFFD}", "😴"]
    // Of the last two, the first is the greater where `e` with U+0301 counts as U+00E9.
    let names = scalars.map { "a\($0)/" } + ["", "a10", "a2", "B", "Z", "_", "totale\u{301}", "totalf"]
    var totals: [String: Quantity] = [:]
    for name in names { totals[name] = Quantity(0.5, name) }
    let numbers = [Double.nan, .infinity, -.infinity, -0.0, 1e15, 1e16, 1e-7, .leastNonzeroMagnitude, 1 / 3]
    let workout = Workout(
      activityType: .name(names.joined()), totals: totals,
      statistics: numbers.map {
        WorkoutStatistics(type: .workout, start: .init(microseconds: 1), average: $0, minimum: nil, unit: "")
      },
      events: [WorkoutEvent(type: "\u{0}", date: .init(microseconds: .min), metadata: ["\n": .string("\t")])])
    #expect(try CodedPayload(.workout(workout)).json == CanonicalJSON.encode(workout))
  }
}
