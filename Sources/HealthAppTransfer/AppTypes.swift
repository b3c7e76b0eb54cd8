import HealthModel

/// The types that HealthAppTransfer supports, named like HealthKit's Swift constants: `stepCount`.
public enum AppTypes {
  /// Returns the catalogue entry of a type, or `nil` if the app does not support it.
  public static func entry(of type: SampleType) -> SampleTypeCatalogue.Entry? {
    guard let entry = SampleTypeCatalogue.healthKit[type], kinds.contains(entry.kind) else { return nil }
    return unknown.contains(entry.shortName) ? nil : entry
  }

  /// Returns the catalogue entry for the app's name of a type. The case must match.
  public static func entry(named name: String) -> SampleTypeCatalogue.Entry? {
    guard let type = SampleTypeCatalogue.healthKit.type(named: name) else { return nil }
    return entry(of: type).flatMap { $0.shortName == name ? $0 : nil }
  }

  /// The kinds of types that the app exports. It knows characteristics but never exports them.
  private static let kinds: Set<SampleTypeCatalogue.Kind> = [.quantity, .category, .correlation, .workout]

  /// HealthKit's quantity and category types that the app does not support.
  private static let unknown: Set<String> = [
    "appleSleepingBreathingDisturbances", "appleWalkingSteadinessEvent", "bleedingAfterPregnancy",
    "bleedingDuringPregnancy", "crossCountrySkiingSpeed", "distanceCrossCountrySkiing", "distancePaddleSports",
    "distanceRowing", "distanceSkatingSports", "environmentalSoundReduction", "estimatedWorkoutEffortScore",
    "heartRateVariabilityRMSSD",
    "hypertensionEvent", "paddleSportsSpeed", "rowingSpeed", "sleepApneaEvent", "sleepDurationGoal",
    "workoutEffortScore",
  ]
}
