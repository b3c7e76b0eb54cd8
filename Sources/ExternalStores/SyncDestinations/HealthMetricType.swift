import HealthModel

/// What a ``HealthDataPoint`` measures, named as HealthPush names it: `steps`, `heartRate`, `sleepAnalysis`.
///
/// HealthPush knows 25; here every type has a name, which is that of HealthKit's Swift constant, or else its
/// identifier.
///
/// ```swift
/// print(HealthMetricType.heartRate.rawValue)                                              // heartRate
/// print(HealthMetricType(SampleType("HKQuantityTypeIdentifierVO2Max")) == .init(rawValue: "vo2Max"))  // true
/// ```
public struct HealthMetricType: RawRepresentable, Hashable, Sendable, Codable {
  public let rawValue: String

  /// Any text is a name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The name of a type of samples.
  public init(_ type: SampleType) {
    rawValue = type == Self.stepCount ? "steps" : type.shortName
  }

  // The only one of the 25 that HealthKit calls otherwise.
  private static let stepCount = SampleType("HKQuantityTypeIdentifierStepCount")
}

extension HealthMetricType {
  /// In `count`.
  public static let steps = Self(rawValue: "steps")
  /// In `kcal`.
  public static let activeEnergyBurned = Self(rawValue: "activeEnergyBurned")
  /// In `kcal`.
  public static let basalEnergyBurned = Self(rawValue: "basalEnergyBurned")
  /// In `m`.
  public static let distanceWalkingRunning = Self(rawValue: "distanceWalkingRunning")
  /// In `m`.
  public static let distanceCycling = Self(rawValue: "distanceCycling")
  /// In `count`.
  public static let flightsClimbed = Self(rawValue: "flightsClimbed")
  /// In `min`.
  public static let appleExerciseTime = Self(rawValue: "appleExerciseTime")
  /// In `min`.
  public static let appleStandTime = Self(rawValue: "appleStandTime")
  /// In `min`.
  public static let appleMoveTime = Self(rawValue: "appleMoveTime")
  /// In `kg`.
  public static let bodyMass = Self(rawValue: "bodyMass")
  /// In `count`.
  public static let bodyMassIndex = Self(rawValue: "bodyMassIndex")
  /// A fraction, in `%`: 0.2 for a fifth.
  public static let bodyFatPercentage = Self(rawValue: "bodyFatPercentage")
  /// In `cm`.
  public static let height = Self(rawValue: "height")
  /// In `kg`.
  public static let leanBodyMass = Self(rawValue: "leanBodyMass")
  /// In `count/min`.
  public static let heartRate = Self(rawValue: "heartRate")
  /// In `count/min`.
  public static let restingHeartRate = Self(rawValue: "restingHeartRate")
  /// In `ms`.
  public static let heartRateVariabilitySDNN = Self(rawValue: "heartRateVariabilitySDNN")
  /// In `mmHg`.
  public static let bloodPressureSystolic = Self(rawValue: "bloodPressureSystolic")
  /// In `mmHg`.
  public static let bloodPressureDiastolic = Self(rawValue: "bloodPressureDiastolic")
  /// A fraction, in `%`: 0.98.
  public static let oxygenSaturation = Self(rawValue: "oxygenSaturation")
  /// In `count/min`.
  public static let respiratoryRate = Self(rawValue: "respiratoryRate")
  /// In `degC`.
  public static let bodyTemperature = Self(rawValue: "bodyTemperature")
  /// A stage of sleep; its value is how long it lasts, in `s`.
  public static let sleepAnalysis = Self(rawValue: "sleepAnalysis")
  /// In `kcal`.
  public static let dietaryEnergyConsumed = Self(rawValue: "dietaryEnergyConsumed")
  /// In `mL`.
  public static let dietaryWater = Self(rawValue: "dietaryWater")
}
