import HealthModel

/// The types that HealthAppTransfer knows. It calls them as HealthKit's Swift constants are called: `stepCount`.
public enum AppTypes {
  /// `nil` for a type that the app does not know.
  public static func entry(of type: SampleType) -> SampleTypeCatalogue.Entry? {
    guard let entry = SampleTypeCatalogue.healthKit[type], kinds.contains(entry.kind) else { return nil }
    return unknown.contains(entry.shortName) ? nil : entry
  }

  /// The type that the app calls so; `nil` for a name in other letters, too.
  public static func entry(named name: String) -> SampleTypeCatalogue.Entry? {
    guard let type = SampleTypeCatalogue.healthKit.type(named: name) else { return nil }
    return entry(of: type).flatMap { $0.shortName == name ? $0 : nil }
  }

  /// Those that the app ever writes samples of: characteristics, which it knows, it does not.
  private static let kinds: Set<SampleTypeCatalogue.Kind> = [.quantity, .category, .correlation, .workout]

  /// HealthKit's quantities and categories that the app lacks.
  private static let unknown: Set<String> = [
    "appleSleepingBreathingDisturbances", "appleWalkingSteadinessEvent", "bleedingAfterPregnancy",
    "bleedingDuringPregnancy", "crossCountrySkiingSpeed", "distanceCrossCountrySkiing", "distancePaddleSports",
    "distanceRowing", "distanceSkatingSports", "environmentalSoundReduction", "estimatedWorkoutEffortScore",
    "heartRateVariabilityRMSSD",
    "hypertensionEvent", "paddleSportsSpeed", "rowingSpeed", "sleepApneaEvent", "sleepDurationGoal",
    "workoutEffortScore",
  ]
}
