import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests with the vectors H1, H2, L1 and L2, and with random histories and an oracle that computes each bucket by
/// itself.
@Suite struct DiscreteSweepTests {
  struct Entry: Sendable {
    var start: Int64
    var end: Int64
    var value: Double
  }

  private static let second: Int64 = 1_000_000
  private static let hour = [Int64(36_000), 39_600].map { $0 * second }

  private static func at(_ hours: Int, _ minutes: Int, _ seconds: Int = 0) -> Int64 {
    Int64(hours * 3600 + minutes * 60 + seconds) * second
  }

  private static func found(
    _ entries: [Entry], _ aggregation: SampleTypeCatalogue.Aggregation, edges: [Int64] = hour
  ) -> [Int: DiscreteSweep.Found] {
    var sweep = DiscreteSweep(edges: edges, aggregation)
    for entry in entries.sorted(by: { $0.start < $1.start }) {
      sweep.add(start: entry.start, end: entry.end, value: entry.value)
    }
    return Dictionary(uniqueKeysWithValues: sweep.finish().map { ($0.index, $0.found) })
  }

  @Test func H1() throws {
    let rest = [0, 5, 10].map { Entry(start: Self.at(10, $0), end: Self.at(10, $0), value: 60) }
    let workout = (0..<12).map { Entry(start: Self.at(10, 20, 5 * $0), end: Self.at(10, 20, 5 * $0), value: 150) }
    let found = try #require(Self.found(rest + workout, .discreteTemporallyWeighted)[0])
    #expect((found.count, found.minimum, found.maximum, found.last) == (15, 60, 150, 150))
    #expect(found.meanOfSamples == 132)
    #expect(abs(try #require(found.mean) - 21450.0 / 251) < 1e-9)
  }

  @Test func H2() throws {
    let entries = [
      Entry(start: Self.at(9, 58), end: Self.at(9, 58), value: 80),
      Entry(start: Self.at(10, 2), end: Self.at(10, 2), value: 100),
    ]
    let found = try #require(Self.found(entries, .discreteTemporallyWeighted)[0])
    #expect((found.count, found.minimum, found.maximum) == (1, 100, 100))
    #expect(abs(try #require(found.mean) - 660.0 / 7) < 1e-9)
  }

  @Test func L1() throws {
    let entries = [
      Entry(start: Self.at(10, 0), end: Self.at(10, 30), value: 60),
      Entry(start: Self.at(10, 30), end: Self.at(11, 0), value: 80),
    ]
    let found = try #require(Self.found(entries, .discreteEquivalentContinuousLevel)[0])
    #expect(abs(try #require(found.mean) - 77.0329) < 5e-5)
    #expect(found.meanOfSamples == 70)
  }

  @Test func L2() throws {
    let entries = [
      Entry(start: Self.at(9, 30), end: Self.at(10, 30), value: 70),
      Entry(start: Self.at(10, 30), end: Self.at(10, 31), value: 100),
    ]
    let found = try #require(
      Self.found(entries, .discreteEquivalentContinuousLevel, edges: [Self.at(9, 0), Self.at(12, 0)])[0])
    #expect(abs(try #require(found.mean) - 82.3998) < 5e-5)
  }

  @Test func theLatestIsWhatEndsLast() {
    let entries = [
      Entry(start: Self.at(10, 0), end: Self.at(10, 50), value: 1),
      Entry(start: Self.at(10, 20), end: Self.at(10, 30), value: 2),
      Entry(start: Self.at(10, 40), end: Self.at(10, 50), value: 3),
    ]
    #expect(Self.found(entries, .discrete)[0]?.last == 3)
    #expect(Self.found(Array(entries.prefix(2)), .discrete)[0]?.last == 1)
  }

  @Test func aValueThatHasEndedGivesNoMeanOverTime() {
    let entries = [
      Entry(start: Self.at(10, 0), end: Self.at(13, 0), value: 60),
      Entry(start: Self.at(10, 1), end: Self.at(10, 1), value: 80),
    ]
    let found = Self.found(
      entries, .discreteTemporallyWeighted, edges: [Self.at(10, 0), Self.at(11, 0), Self.at(12, 0)])
    #expect(found[1]?.count == 1 && found[1]?.mean == nil && found[1]?.meanOfSamples == 60)
  }

  // MARK: Random histories

  private static func oracle(
    _ entries: [Entry], _ aggregation: SampleTypeCatalogue.Aggregation, from lower: Int64, to upper: Int64
  ) -> DiscreteSweep.Found? {
    let here = entries.filter {
      $0.start == $0.end ? lower <= $0.start && $0.start < upper : $0.start < upper && $0.end > lower
    }
    guard let last = here.max(by: { ($0.end, $0.start, $0.value) < ($1.end, $1.start, $1.value) }) else { return nil }
    let values = here.map(\.value)
    var found = DiscreteSweep.Found(
      count: here.count, minimum: values.min() ?? 0, maximum: values.max() ?? 0, last: last.value,
      meanOfSamples: values.reduce(0, +) / Double(values.count), mean: nil)
    switch aggregation {
    case .cumulative, .discrete: found.mean = found.meanOfSamples
    case .discreteEquivalentContinuousLevel:
      let lengths = here.map { $0.start == $0.end ? 1e6 : Double(min($0.end, upper) - max($0.start, lower)) }
      let power = zip(lengths, values).reduce(0) { $0 + $1.0 * pow(10, $1.1 / 10) }
      found.mean = 10 * log10(power / lengths.reduce(0, +))
    case .discreteTemporallyWeighted:
      var (sum, time) = (0.0, 0.0)
      let starts = Set(entries.map(\.start)).sorted()
      for (index, start) in starts.enumerated() {
        let group = entries.filter { $0.start == start }
        let end = min(
          (group.map(\.end).max() ?? start) + 300 * second, index + 1 < starts.count ? starts[index + 1] : .max)
        let length = Double(max(0, min(end, upper) - max(start, lower)))
        sum += length * group.map(\.value).reduce(0, +) / Double(group.count)
        time += length
      }
      found.mean = time > 0 ? sum / time : nil
    }
    return found
  }

  @Test(arguments: 0..<300)
  func agreesWithTheOracle(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let entries = (0..<random.below(40)).map { _ in
      let start = Int64(random.below(3000)) - 300
      let length = random.below(2) == 0 ? 0 : Int64(random.below(random.below(4) == 0 ? 3000 : 100))
      return Entry(start: start * Self.second, end: (start + length) * Self.second, value: Double(random.below(100)))
    }
    var edges: [Int64] = [0]
    for _ in 0...random.below(9) { edges.append(edges[edges.count - 1] + Int64(1 + random.below(500)) * Self.second) }
    for aggregation in [
      SampleTypeCatalogue.Aggregation.discrete, .discreteTemporallyWeighted, .discreteEquivalentContinuousLevel,
    ] {
      let found = Self.found(entries, aggregation, edges: edges)
      for index in 0..<edges.count - 1 {
        let expected = Self.oracle(entries, aggregation, from: edges[index], to: edges[index + 1])
        let actual = found[index]
        #expect(actual?.count == expected?.count && actual?.last == expected?.last, "bucket \(index)")
        #expect(actual?.minimum == expected?.minimum && actual?.maximum == expected?.maximum, "bucket \(index)")
        #expect((actual?.mean == nil) == (expected?.mean == nil), "bucket \(index)")
        #expect(abs((actual?.mean ?? 0) - (expected?.mean ?? 0)) <= 1e-6, "bucket \(index) \(aggregation)")
        #expect(abs((actual?.meanOfSamples ?? 0) - (expected?.meanOfSamples ?? 0)) <= 1e-6, "bucket \(index)")
      }
    }
  }
}
