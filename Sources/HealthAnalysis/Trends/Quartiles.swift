/// The median of some numbers, and the quarters on both sides of it.
///
/// ```swift
/// if let quartiles = Quartiles([60, 58, 61, 64, 59]) { print(quartiles.median, quartiles.band) }  // 60.0 59.0...61.0
/// ```
public struct Quartiles: Hashable, Sendable {
  public var median: Double
  /// From the first quartile to the third.
  public var band: ClosedRange<Double>

  /// By linear interpolation between the numbers in order, where the first is the share 0 and the last 1: type 7 of Hyndman and
  /// Fan (https://doi.org/10.2307/2684934).
  ///
  /// `nil` of none. What is not finite is left out.
  public init?(_ numbers: [Double]) {
    let sorted = numbers.filter(\.isFinite).sorted()
    guard !sorted.isEmpty else { return nil }
    func quantile(_ share: Double) -> Double {
      let place = share * Double(sorted.count - 1)
      let index = Int(place)
      guard index + 1 < sorted.count, place > Double(index) else { return sorted[index] }
      let part = place - Double(index)
      return sorted[index] * (1 - part) + sorted[index + 1] * part
    }
    median = quantile(0.5)
    // Interpolation between equal numbers may miss them by a rounding.
    let first = min(quantile(0.25), median)
    band = first...max(quantile(0.75), median)
  }
}
