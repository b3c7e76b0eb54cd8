import HealthModel

/// Finds out in what unit weights are: nothing in a log says it, and what an account is set to is no sign.
struct FitbitWeights {
  /// Metres, of the person, each once.
  private var heights: [Double] = []
  /// People grow for twenty years.
  private static let mostHeights = 1_000

  /// In kilograms: as a rule a log's is a pound.
  private static let pound = 0.453_592_37
  private static let units = [pound, 1, 6.350_293_18]
  /// How far a body mass index, which is printed with two digits, may be from what a unit makes of it.
  private static let tolerance = 0.03

  /// - Parameter height: a row of `height-*.json`, in millimetres.
  mutating func add(height row: [String: JSONValue]) {
    if let height = FitbitNumber.of(row["value"], in: 300...3000) { add(height: height / 1000) }
  }

  mutating func add(height: Double) {
    if heights.count < Self.mostHeights, !heights.contains(height) { heights.append(height) }
  }

  /// - Parameter bodyMassIndex: in kilograms a square metre, as the log has it.
  func kilograms(_ weight: Double, bodyMassIndex: Double?) -> Double {
    guard let bodyMassIndex else { return weight * Self.pound }
    // People grow: of all heights there were, one must fit.
    let unit = Self.units.first { unit in
      heights.contains { height in
        abs(weight * unit / (height * height) - bodyMassIndex) <= Self.tolerance * bodyMassIndex
      }
    }
    return weight * (unit ?? Self.pound)
  }
}
