import HeapModule
import HealthModel
import Foundation

/// A sweep that computes minimum, maximum and mean of a discrete type by bucket. A sample belongs to every bucket
/// that it overlaps.
///
/// Samples must be added in order of their starts. Each takes constant time regardless of the number of buckets it
/// overlaps: the buckets between its first and its last are recorded as a stretch and resolved at the end.
struct DiscreteSweep {
  /// The values of a bucket.
  struct Found: Hashable, Sendable {
    var count = 0
    var minimum = Double.infinity
    var maximum = -Double.infinity
    /// The value of the sample that ends last; among several, of the one that starts last.
    var last = 0.0
    var meanOfSamples = 0.0
    /// The mean according to the type's aggregation, or `nil` for a temporally weighted type if no value holds in the
    /// bucket.
    var mean: Double?
  }

  fileprivate struct Slot {
    var count = 0
    var sum = 0.0
    var minimum = Double.infinity
    var maximum = -Double.infinity
    var last: Latest?
    /// The sum of values weighted by their duration in microseconds; for sounds, of their powers.
    var weighted = 0.0
    var weight = 0.0
    /// The changes at this bucket in the count and the sums of samples that overlap more than two buckets.
    var countChange = 0
    var sumChange = 0.0
    var powerChange = 0.0
  }

  struct Latest: Hashable, Comparable {
    var end: Int64
    var start: Int64
    var value: Double

    static func < (one: Self, other: Self) -> Bool {
      (one.end, one.start, one.value) < (other.end, other.start, other.value)
    }
  }

  /// A sample that covers whole buckets.
  private struct Stretch {
    var buckets: Range<Int>
    var latest: Latest
  }

  private let edges: [Int64]
  private let aggregation: SampleTypeCatalogue.Aggregation
  private var slots: [Slot]
  private var stretches: [Stretch] = []
  private var lasting = LastingValues()

  /// Creates a sweep.
  ///
  /// - Parameters:
  ///   - edges: the edges of the buckets in microseconds, ascending; at least two.
  ///   - aggregation: the aggregation that determines the mean.
  init(edges: [Int64], _ aggregation: SampleTypeCatalogue.Aggregation) {
    self.edges = edges
    self.aggregation = aggregation
    slots = Array(repeating: Slot(), count: edges.count - 1)
  }

  /// Adds a sample.
  ///
  /// - Parameters:
  ///   - start: microseconds; not before that of the previous sample.
  ///   - value: a finite number.
  mutating func add(start: Int64, end: Int64, value: Double) {
    if aggregation == .discreteTemporallyWeighted, let stretch = lasting.add(start: start, end: end, value: value) {
      weigh(stretch)
    }
    // An instantaneous sample occupies the microsecond at its start.
    let stop = max(end, start == .max ? .max : start + 1)
    guard stop > edges[0], start < edges[edges.count - 1] else { return }
    let first = edges.lastIndex(notAfter: max(start, edges[0]))
    let last = edges.lastIndex(notAfter: min(stop, edges[edges.count - 1]) - 1)
    let latest = Latest(end: end, start: start, value: value)
    let power = aggregation == .discreteEquivalentContinuousLevel ? pow(10, value / 10) : 0
    for index in first == last ? [first] : [first, last] {
      slots[index].add(latest)
      let whole = min(stop, edges[index + 1]) - max(start, edges[index])
      let length = Double(start == end ? 1_000_000 : whole)
      if power > 0 { slots[index].weigh(power, length) }
    }
    guard last > first + 1 else { return }
    stretches.append(Stretch(buckets: first + 1..<last, latest: latest))
    slots[first + 1].change(1, value, power)
    slots[last].change(-1, -value, -power)
  }

  /// Returns the buckets that have samples, in order.
  mutating func finish() -> [(index: Int, found: Found)] {
    if let stretch = lasting.finish() { weigh(stretch) }
    var result: [(Int, Found)] = []
    var (count, sum, power) = (0, 0.0, 0.0)
    var open = OpenStretches(stretches)
    for index in slots.indices {
      var slot = slots[index]
      count += slot.countChange
      // Differences of rounded numbers are not exactly zero.
      (sum, power) = count == 0 ? (0, 0) : (sum + slot.sumChange, power + slot.powerChange)
      if count > 0 {
        slot.count += count
        slot.sum += sum
        let length = Double(edges[index + 1] - edges[index])
        if power > 0 { slot.weigh(power, length, times: Double(count)) }
        open.show(in: &slot, at: index)
      }
      if slot.count > 0 { result.append((index, slot.found(aggregation))) }
    }
    return result
  }

  // MARK: Mean over time

  private mutating func weigh(_ stretch: LastingValues.Stretch) {
    let end = min(stretch.end, edges[edges.count - 1])
    var start = max(stretch.start, edges[0])
    guard start < end else { return }
    var index = edges.lastIndex(notAfter: start)
    while start < end {
      let stop = min(end, edges[index + 1])
      slots[index].weigh(stretch.value, Double(stop - start))
      (start, index) = (stop, index + 1)
    }
  }

  /// The minimum, maximum and latest value of the stretches at each successive bucket.
  private struct OpenStretches {
    private struct Entry: Comparable {
      var value: Double
      var end: Int
      static func < (one: Self, other: Self) -> Bool { one.value < other.value }
    }

    private struct Ending: Comparable {
      var latest: Latest
      var end: Int
      static func < (one: Self, other: Self) -> Bool { one.latest < other.latest }
    }

    private let stretches: [Stretch]
    private var next = 0
    private var values = (low: Heap<Entry>(), high: Heap<Entry>())
    private var latest = Heap<Ending>()

    init(_ stretches: [Stretch]) {
      self.stretches = stretches.sorted { $0.buckets.lowerBound < $1.buckets.lowerBound }
    }

    mutating func show(in slot: inout Slot, at index: Int) {
      while next < stretches.count, stretches[next].buckets.lowerBound <= index {
        let stretch = stretches[next]
        let entry = Entry(value: stretch.latest.value, end: stretch.buckets.upperBound)
        values.low.insert(entry)
        values.high.insert(entry)
        latest.insert(Ending(latest: stretch.latest, end: stretch.buckets.upperBound))
        next += 1
      }
      while let first = values.low.min, first.end <= index { values.low.removeMin() }
      while let first = values.high.max, first.end <= index { values.high.removeMax() }
      while let first = latest.max, first.end <= index { latest.removeMax() }
      if let least = values.low.min { slot.minimum = min(slot.minimum, least.value) }
      if let greatest = values.high.max { slot.maximum = max(slot.maximum, greatest.value) }
      if let newest = latest.max, slot.last.map({ $0 < newest.latest }) ?? true { slot.last = newest.latest }
    }
  }
}

extension DiscreteSweep.Slot {
  fileprivate mutating func add(_ sample: DiscreteSweep.Latest) {
    count += 1
    sum += sample.value
    minimum = min(minimum, sample.value)
    maximum = max(maximum, sample.value)
    if last.map({ $0 < sample }) ?? true { last = sample }
  }

  /// Adds a weighted value.
  ///
  /// - Parameter times: the number of samples of which the value is the sum.
  fileprivate mutating func weigh(_ value: Double, _ length: Double, times: Double = 1) {
    weighted += value * length
    weight += length * times
  }

  fileprivate mutating func change(_ count: Int, _ sum: Double, _ power: Double) {
    countChange += count
    sumChange += sum
    powerChange += power
  }

  fileprivate func found(_ aggregation: SampleTypeCatalogue.Aggregation) -> DiscreteSweep.Found {
    let meanOfSamples = sum / Double(count)
    return DiscreteSweep.Found(
      count: count, minimum: minimum, maximum: maximum, last: last?.value ?? 0, meanOfSamples: meanOfSamples,
      mean: aggregation.mean(ofSamples: meanOfSamples, weighted: weighted, weight: weight))
  }
}

extension SampleTypeCatalogue.Aggregation {
  /// Returns the range whose samples affect a given range, in microseconds.
  func reach(_ range: Range<Int64>) -> Range<Int64> {
    self == .discreteTemporallyWeighted ? LastingValues.reach(range) : range
  }

  /// Returns the mean according to the aggregation.
  ///
  /// - Parameters:
  ///   - weighted: the sum of values multiplied by their durations; for sounds, of their powers.
  ///   - weight: the sum of the durations.
  /// - Returns: `nil` for a temporally weighted type if no value holds in the bucket.
  func mean(ofSamples arithmetic: Double, weighted: Double, weight: Double) -> Double? {
    switch self {
    case .cumulative, .discrete: arithmetic
    case .discreteTemporallyWeighted: weight > 0 ? weighted / weight : nil
    case .discreteEquivalentContinuousLevel: weight > 0 ? 10 * log10(weighted / weight) : nil
    }
  }
}
