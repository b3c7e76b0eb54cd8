import HealthModel
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests that extreme sample times, as a peer may claim them, neither crash a query nor take long.
@Suite struct ExtremeTimesTests {
  private static let times: [Int64] = [
    .min, .min + 1, -1, 0, 1, 299_999_999, 300_000_000, 3_600_000_000, 1_718_445_600_000_000, .max - 300_000_000,
    .max - 1,
    .max,
  ]
  private static let values = [0, 1, -1, 1e308, -1e308, Double.leastNonzeroMagnitude, 300]

  private static let edges: [[Int64]] = [
    [0, 1], [-62_135_596_800_000_000, 253_402_300_799_000_000], [0, 300_000_000, 3_600_000_000, 1_718_445_600_000_000],
  ]

  private static func history(_ random: inout SeededGenerator) -> [(start: Int64, end: Int64, value: Double)] {
    (0..<200).map { _ in
      let ends = [random.pick(times), random.pick(times)].sorted()
      return (ends[0], ends[1], random.pick(values))
    }.sorted { $0.start < $1.start }
  }

  @Test(arguments: 0..<30)
  func sumsAndMeansAreThere(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let samples = Self.history(&random)
    for edges in Self.edges {
      var sums = SumSweep(edges: edges, ranks: 3)
      for sample in samples {
        sums.add(start: sample.start, end: sample.end, value: sample.value, rank: random.below(3))
      }
      #expect(sums.finish().count < edges.count)
      for aggregation in [
        SampleTypeCatalogue.Aggregation.discrete, .discreteTemporallyWeighted, .discreteEquivalentContinuousLevel,
      ] {
        var sweep = DiscreteSweep(edges: edges, aggregation)
        for sample in samples { sweep.add(start: sample.start, end: sample.end, value: sample.value) }
        let found = sweep.finish()
        #expect(found.count < edges.count && found.allSatisfy { $0.found.minimum <= $0.found.maximum })
      }
    }
  }

  @Test(arguments: 0..<30)
  func nightsAreThere(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var sessions = SleepSessions(names: ["a", "b", "c"])
    for sample in Self.history(&random) {
      sessions.add(
        start: sample.start, end: sample.end, stage: random.pick(SleepStage.allCases), rank: random.below(3))
    }
    let nights = SleepQuery(in: try ZoneRules(named: "Europe/Berlin")).nights(of: sessions.finish())
    for night in nights {
      #expect(night.main.asleep.map { $0 >= 0 } ?? true)
      #expect(night.main.midpoint.map { $0 >= night.main.start && $0 <= night.main.end } ?? true)
    }
  }
}
