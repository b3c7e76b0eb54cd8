import TestSupport

/// The times of a type's samples: runs, as while a watch is worn, with pauses between them.
///
/// If ten years have few samples, the gaps within a run stay as in real exports and the pauses grow. The gaps shrink
/// only if there are too many samples.
struct Rhythm: Sendable {
  /// The range of seconds from a start to the next within a run.
  private let gap: ClosedRange<Int64>
  /// The number of samples in a run.
  private let run: Int
  /// The time from the earliest start of a run to the earliest start of the next, in seconds.
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

  /// Returns the start of sample `index`, in seconds since 1970. It is later than `previous`, the start of the sample
  /// before.
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
