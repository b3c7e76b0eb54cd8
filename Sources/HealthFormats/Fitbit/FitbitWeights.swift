import HealthModel

/// Infers the unit of logged weights from the body mass index. Neither a log nor the account's setting tells it.
struct FitbitWeights {
  /// The person's different heights, in metres.
  private var heights: [Double] = []
  /// The maximum number of heights, enough for a growing person.
  private static let mostHeights = 1_000

  /// A pound in kilograms, the usual unit of logs.
  private static let pound = 0.453_592_37
  private static let units = [pound, 1, 6.350_293_18]
  /// The allowed relative difference between the logged body mass index and the computed one.
  private static let tolerance = 0.03

  /// Adds a height from a row of `height-*.json`.
  ///
  /// - Parameter height: the row, in millimetres.
  mutating func add(height row: [String: JSONValue]) {
    if let height = FitbitNumber.of(row["value"], in: 300...3000) { add(height: height / 1000) }
  }

  mutating func add(height: Double) {
    if heights.count < Self.mostHeights, !heights.contains(height) { heights.append(height) }
  }

  /// Returns a logged weight in kilograms.
  ///
  /// - Parameter bodyMassIndex: the logged body mass index in kilograms per square metre.
  func kilograms(_ weight: Double, bodyMassIndex: Double?) -> Double {
    guard let bodyMassIndex else { return weight * Self.pound }
    // People grow, so any of the heights may fit.
    let unit = Self.units.first { unit in
      heights.contains { height in
        abs(weight * unit / (height * height) - bodyMassIndex) <= Self.tolerance * bodyMassIndex
      }
    }
    return weight * (unit ?? Self.pound)
  }
}
