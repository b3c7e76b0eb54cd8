/// The median and the interquartile range of numbers.
///
/// ```swift
/// if let quartiles = Quartiles([60, 58, 61, 64, 59]) { print(quartiles.median, quartiles.band) }  // 60.0 59.0...61.0
/// ```
public struct Quartiles: Hashable, Sendable {
  public var median: Double
  /// The range from the first quartile to the third.
  public var band: ClosedRange<Double>

  /// Creates quartiles by linear interpolation between the sorted numbers, type 7 of Hyndman and Fan
  /// (https://doi.org/10.2307/2684934). Non-finite numbers are ignored.
  ///
  /// Returns `nil` if there are no numbers.
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
    // Interpolation between equal numbers may differ from them by a rounding error.
    let first = min(quantile(0.25), median)
    band = first...max(quantile(0.75), median)
  }
}
