/// A kind of file in a Fitbit export. The order of the cases is the reading order: files that others depend on first,
/// and JSON before the tables with the same content.
enum FitbitFamily: Int, CaseIterable {
  case profile, userSleeps, height
  case steps, distance, heartRate, restingHeartRate, weight, sleep, exercise
  case oxygenTable, variabilityTable
  case stepsTable, distanceTable, heartRateTable, restingHeartRateTable, weightTable

  /// Whether a file of this family identifies a folder as a Fitbit export. Any folder may have a `Profile.csv`.
  var isTelling: Bool { self != .profile && self != .weightTable && self != .height }

  /// Creates a family from a file name such as `steps-2025-11-01.json`, or returns `nil` if no family matches.
  ///
  /// - Parameter name: the name of a file, without its folders.
  init?(fileName name: String) {
    guard let family = name.hasSuffix(".json") ? Self.json(name) : name.hasSuffix(".csv") ? Self.table(name) : nil
    else {
      return nil
    }
    self = family
  }

  /// Returns the family of a JSON file such as `steps-2025-11-01.json` or `exercise-0.json`.
  private static func json(_ name: String) -> FitbitFamily? {
    let parts = name.dropLast(5).split(separator: "-", maxSplits: 1)
    guard parts.count == 2, parts[1].first?.isNumber == true else { return nil }
    return switch parts[0] {
    case "height": .height
    case "steps": .steps
    case "distance": .distance
    case "heart_rate": .heartRate
    case "resting_heart_rate": .restingHeartRate
    case "weight": .weight
    case "sleep": .sleep
    case "exercise": .exercise
    default: nil
    }
  }

  private static func table(_ name: String) -> FitbitFamily? {
    let beginnings: [(String, FitbitFamily)] = [
      ("UserSleeps_", .userSleeps), ("Minute SpO2 - ", .oxygenTable),
      ("Daily Heart Rate Variability Summary - ", .variabilityTable), ("steps_", .stepsTable),
      ("distance_", .distanceTable), ("heart_rate_", .heartRateTable),
    ]
    if let (beginning, family) = beginnings.first(where: { name.hasPrefix($0.0) }) {
      // `heart_rate_variability_….csv` is another family.
      return name.dropFirst(beginning.count).first?.isNumber == true ? family : nil
    }
    return switch name {
    case "Profile.csv": .profile
    case "daily_resting_heart_rate.csv": .restingHeartRateTable
    case "weight.csv": .weightTable
    default: nil
    }
  }
}
