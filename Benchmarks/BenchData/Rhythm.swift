import TestSupport

/// When the samples of a type come: in runs, as while a watch is worn, with pauses between them.
///
/// The gaps within a run stay what they are in real exports, however few samples ten years are to have; the pauses
/// stretch. Only where there are too many samples do the gaps shrink.
struct Rhythm: Sendable {
  /// Seconds from one start to the next within a run, least and most.
  private let gap: ClosedRange<Int64>
  /// Samples in a run.
  private let run: Int
  /// Seconds from the earliest that a run may begin to the earliest for the next.
  private let slot: Double
  private let shrink: Double

  init(gap: ClosedRange<Int64>, run: Int, count: Int) {
    self.gap = gap
    // Few samples are spread over the years all the same.
    self.run = min(run, max(1, count / 20))
    slot = Double(HealthHistory.span) / (Double(count) / Double(self.run)).rounded(.up)
    let mean = Double(gap.lowerBound + gap.upperBound) / 2
    shrink = min(1, 0.98 * slot / (mean * Double(self.run)))
  }

  /// The start of sample `index`, in seconds since 1970; after `previous`, the one before's.
  func start(of index: Int, after previous: Int64, _ random: inout SeededGenerator) -> Int64 {
    guard index % run == 0 else {
      return previous + max(1, Int64(Double(gap.draw(&random)) * shrink))
    }
    // Within what its samples leave free of the slot.
    let free = max(0, 1 - Double(gap.upperBound) * shrink * Double(run) / slot)
    let begin = (Double(index / run) + Double.random(in: 0...1, using: &random) * free) * slot
    return max(previous + 1, HealthHistory.begin + Int64(begin))
  }
}
