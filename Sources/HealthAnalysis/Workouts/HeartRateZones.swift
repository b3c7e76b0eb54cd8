/// For how long the heart beat how fast.
///
/// ```swift
/// let zones = HeartRateZones(age: 38)  // From 109, 127, 146 and 164 beats a minute on.
/// print(zones.edges.count + 1, "zones")
/// ```
public struct HeartRateZones: Hashable, Sendable {
  /// The lower bounds of all zones but the first, in beats a minute; ascending.
  public let edges: [Double]

  /// - Parameter edges: in any order.
  public init(edges: [Double]) {
    self.edges = edges.sorted()
  }

  /// At 60, 70, 80 and 90 per cent of what is usually the highest rate at an age: 220 less the years.
  public init(age: Int) {
    let highest = Double(max(100, 220 - age))
    edges = [0.6, 0.7, 0.8, 0.9].map { ($0 * highest).rounded() }
  }

  /// The index of the zone of a rate: from 0 to the number of ``edges``.
  public func zone(of rate: Double) -> Int {
    edges.count { $0 <= rate }
  }

  /// In seconds, a number for each zone. A rate lasts until the next sample, but no longer than 300 s after its own end.
  ///
  /// - Parameters:
  ///   - samples: in order of their starts.
  ///   - active: what lies outside does not count.
  func durations(_ samples: [ActiveIntervals.Reading], in active: ActiveIntervals) -> [Double] {
    var durations = Array(repeating: 0.0, count: edges.count + 1)
    for stretch in active.stretches(of: samples) { durations[zone(of: stretch.value)] += stretch.seconds }
    return durations
  }
}
