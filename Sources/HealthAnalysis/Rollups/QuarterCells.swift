import Foundation
import HealthModel
import HealthStore

/// The quarter-hour cells of a range of days in UTC.
struct QuarterCells {
  /// The days since 1970-01-01.
  let days: Range<Int64>

  /// The range in microseconds since 1970.
  var range: Range<Int64> { days.lowerBound * RollupGrain.day..<days.upperBound * RollupGrain.day }

  private var count: Int { days.count * RollupGrain.quarter.count }

  private func index(_ time: Int64) -> Int { Int((time - range.lowerBound) / RollupGrain.quarter.length) }

  private func start(_ index: Int) -> Int64 { range.lowerBound + Int64(index) * RollupGrain.quarter.length }

  // MARK: Sums

  /// Returns the cells of a cumulative type, and the days on which several sources have data.
  ///
  /// - Parameters:
  ///   - ranking: the ranking of all sources.
  ///   - forEach: calls its argument with the samples that overlap the days, in order of their starts.
  func sums(
    _ ranking: KeptRanking,
    forEach: (_ body: (_ sample: NumericSample, _ value: Double) throws -> Void) throws -> Void
  ) throws -> (cells: [SumCell], mixed: Set<Int64>) {
    let table = ranking.table
    var sweep = SumSweep(edges: (0...count).map(start), ranks: table.names.count)
    var ranks: [Int64: Int] = [:]
    var mixed: Set<Int64> = []
    try forEach { sample, value in
      let rank = table.rank(of: sample.source, isUserEntered: sample.isUserEntered)
      for day in days.overlapping(sample) where ranks.updateValue(rank, forKey: day) ?? rank != rank {
        mixed.insert(day)
      }
      sweep.add(start: sample.start, end: sample.end, value: value, rank: rank, unit: sample.unit)
    }
    var cells = [SumCell](repeating: SumCell(), count: count)
    for (index, sum) in sweep.finish() {
      cells[index].isTouched = true
      cells[index].value = sum.value
      cells[index].twins = sum.twins
      cells[index].shares = sum.covered.sorted { $0.key < $1.key }
        .map { SumCell.Share(source: ranking.name(ofRank: $0.key), covered: $0.value) }
    }
    return (cells, mixed)
  }

  // MARK: Discrete types

  /// Returns the cells of a discrete type.
  ///
  /// - Parameter forEach: calls its argument with the samples that overlap the days or the preceding time from which
  ///   a value may hold into them, in order of their starts.
  func discrete(
    _ aggregation: SampleTypeCatalogue.Aggregation,
    forEach: (_ body: (_ sample: NumericSample, _ value: Double) throws -> Void) throws -> Void
  ) throws -> [DiscreteCell] {
    var cells = [DiscreteCell](repeating: DiscreteCell(), count: count)
    var lasting = LastingValues()
    func weigh(_ stretch: LastingValues.Stretch) {
      forEachQuarter(stretch.start, stretch.end) { cells[$0].weigh(stretch.value, Double($1)) }
    }
    try forEach { sample, value in
      if aggregation == .discreteTemporallyWeighted,
        let stretch = lasting.add(start: sample.start, end: sample.end, value: value)
      {
        weigh(stretch)
      }
      let power = aggregation == .discreteEquivalentContinuousLevel ? pow(10, value / 10) : 0
      let latest = DiscreteSweep.Latest(end: sample.end, start: sample.start, value: value)
      // An instantaneous sample occupies the microsecond at its start.
      let end = max(sample.end, sample.start == .max ? .max : sample.start + 1)
      forEachQuarter(sample.start, end) { index, length in
        if start(index) <= sample.start { cells[index].begun.add(latest) } else { cells[index].entering.add(latest) }
        if power > 0 { cells[index].weigh(power, Double(sample.start == sample.end ? 1_000_000 : length)) }
      }
    }
    if let stretch = lasting.finish() { weigh(stretch) }
    return cells
  }

  /// Calls `body` with each quarter-hour that a period overlaps and the length of the overlap.
  private func forEachQuarter(_ start: Int64, _ end: Int64, _ body: (_ index: Int, _ length: Int64) -> Void) {
    var time = max(start, range.lowerBound)
    let end = min(end, range.upperBound)
    guard time < end else { return }
    var index = index(time)
    while time < end {
      let next = min(end, self.start(index + 1))
      body(index, next - time)
      (time, index) = (next, index + 1)
    }
  }
}

extension Range<Int64> {
  /// Returns those of the days on which a sample has any time.
  fileprivate func overlapping(_ sample: NumericSample) -> Range<Int64> {
    let first = RollupGrain.day(of: sample.start)
    let last = RollupGrain.day(of: Swift.max(sample.start, sample.end == .min ? .min : sample.end - 1))
    return (first..<last + 1).clamped(to: self)
  }
}
