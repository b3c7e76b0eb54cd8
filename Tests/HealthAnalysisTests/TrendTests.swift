import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests of baselines and comparisons against a slow, direct implementation of their definitions.
@Suite struct TrendTests {
  /// Returns a quantile as a share of the area between neighbours, counted in quarters, without interpolation by
  /// index.
  private static func oracle(_ numbers: [Double], quarters: Int) -> Double {
    let sorted = numbers.sorted()
    var best = sorted[0]
    // Every gap is walked in four equal steps.
    var step = 0
    for (low, high) in zip(sorted, sorted.dropFirst()) {
      for part in 1...4 {
        step += 1
        if step == quarters * (sorted.count - 1) { best = low + (high - low) * Double(part) / 4 }
      }
    }
    return best
  }

  @Test func baselinesAreWhatTheDaysBeforeSay() {
    var random = SeededGenerator(seed: 28)
    for _ in 0..<300 {
      let density = Double.random(in: 0...1, using: &random)
      var values: [Int: Double] = [:]
      for day in 0..<60 where Double.random(in: 0...1, using: &random) < density {
        values[day] = Double(Int.random(in: -50...50, using: &random))
      }
      for day in 0..<60 {
        let before = values.filter { $0.key < day && $0.key >= day - 28 }.map(\.value)
        let baseline = Baseline(of: day, in: values)
        guard before.count >= 14 else {
          #expect(baseline == nil)
          continue
        }
        guard let baseline else {
          Issue.record("no baseline of \(before.count) days")
          continue
        }
        #expect(baseline.days == before.count)
        let oracle = (1...3).map { Self.oracle(before, quarters: $0) }
        #expect(abs(baseline.median - oracle[1]) < 1e-9)
        #expect(abs(baseline.band.lowerBound - oracle[0]) < 1e-9 && abs(baseline.band.upperBound - oracle[2]) < 1e-9)
        // A quarter lies on either side of the band.
        let outside = before.filter { !baseline.band.contains($0) }.count
        #expect(outside <= 2 * ((before.count + 3) / 4))
        #expect(!baseline.isUnusual(baseline.median) && !baseline.isUnusual(baseline.band.lowerBound))
        let width = baseline.band.upperBound - baseline.band.lowerBound
        #expect(baseline.isUnusual(baseline.band.upperBound + 1.5 * width + 0.001))
        #expect(!baseline.isUnusual(baseline.band.lowerBound - 1.5 * width))
      }
    }
  }

  /// A baseline needs 14 days. The day itself and days 29 or more back don't count.
  @Test func theEdgesOfTheWindow() {
    var values = Dictionary(uniqueKeysWithValues: (15..<28).map { ($0, 10.0) })
    #expect(Baseline(of: 28, in: values) == nil)
    values[28] = 10
    #expect(Baseline(of: 28, in: values) == nil)
    values[-1] = 10
    #expect(Baseline(of: 28, in: values) == nil)
    values[0] = 10
    let baseline = Baseline(of: 28, in: values)
    #expect(baseline?.median == 10 && baseline?.days == 14)
    #expect(baseline?.isUnusual(10) == false && baseline?.isUnusual(10.5) == true)
    values[0] = .nan
    #expect(Baseline(of: 28, in: values) == nil)
  }

  @Test func quartilesByHand() {
    #expect(Quartiles([]) == nil && Quartiles([.nan, .infinity]) == nil)
    #expect(Quartiles([7])?.band == 7...7)
    #expect(Quartiles([4, 1, 3, 2])?.median == 2.5)
    #expect(Quartiles([4, 1, 3, 2])?.band == 1.75...3.25)
  }

  @Test func periodsAreComparedByTheMeansOfTheirDays() {
    let weeks = PeriodComparison([7000, 8000, 9000], before: [6000, 6000])
    #expect(weeks.now.mean == 8000 && weeks.before.mean == 6000 && weeks.difference == 2000)
    #expect(weeks.now.days == 3 && weeks.before.days == 2 && weeks.share.map { abs($0 - 1.0 / 3) < 1e-12 } == true)
    #expect(PeriodComparison([], before: [1]).difference == nil && PeriodComparison([1], before: []).difference == nil)
    #expect(PeriodComparison([1], before: [0]).share == nil)
    #expect(PeriodComparison([-2], before: [-4]).share == 0.5)
    #expect(PeriodComparison([.nan, 3], before: [1, .infinity]).now.days == 1)
  }
}
