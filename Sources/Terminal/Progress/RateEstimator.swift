import Glibc

/// An exponentially smoothed rate: what was measured `memory` seconds ago weighs 1/e of what is measured now.
struct RateEstimator: Sendable {
  private static let memory = 3.0

  private var weighted = 0.0
  private var weight = 0.0
  private var last: (count: Int, seconds: Double)

  init(count: Int = 0, seconds: Double) {
    last = (count, seconds)
  }

  /// The rate in units per second; `nil` before anything was measured.
  var perSecond: Double? {
    // The weights do not sum up to 1 at first; dividing by their sum keeps the first seconds from reading too low.
    weight > 0 ? weighted / weight : nil
  }

  /// Records that the total is `count` at `seconds` of a monotonic clock.
  mutating func record(count: Int, seconds: Double) {
    let elapsed = seconds - last.seconds
    guard elapsed > 0 else { return }
    let keep = exp(-elapsed / RateEstimator.memory)
    let rate = Double(max(0, count - last.count)) / elapsed
    weighted = weighted * keep + rate * (1 - keep)
    weight = weight * keep + (1 - keep)
    last = (count, seconds)
  }
}
