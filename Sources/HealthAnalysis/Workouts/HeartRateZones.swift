/// The zones into which heart rates are divided to measure the time in each.
///
/// ```swift
/// let zones = HeartRateZones(age: 38)  // From 109, 127, 146 and 164 beats a minute on.
/// print(zones.edges.count + 1, "zones")
/// ```
public struct HeartRateZones: Hashable, Sendable {
  /// The lower bounds of all zones except the first, in beats per minute, ascending.
  public let edges: [Double]

  /// Creates zones.
  ///
  /// - Parameter edges: in any order.
  public init(edges: [Double]) {
    self.edges = edges.sorted()
  }

  /// Creates zones at 60, 70, 80 and 90 percent of the typical maximum heart rate for an age, 220 minus the years.
  public init(age: Int) {
    let highest = Double(max(100, 220 - age))
    edges = [0.6, 0.7, 0.8, 0.9].map { ($0 * highest).rounded() }
  }

  /// Returns the index of the zone of a heart rate, from 0 to the number of ``edges``.
  public func zone(of rate: Double) -> Int {
    edges.count { $0 <= rate }
  }

  /// Returns the seconds in each zone. A value holds until the next sample, but at most 300 s after its own end.
  ///
  /// - Parameters:
  ///   - samples: in order of their starts.
  ///   - active: the intervals that count.
  func durations(_ samples: [ActiveIntervals.Reading], in active: ActiveIntervals) -> [Double] {
    var durations = Array(repeating: 0.0, count: edges.count + 1)
    for stretch in active.stretches(of: samples) { durations[zone(of: stretch.value)] += stretch.seconds }
    return durations
  }
}
