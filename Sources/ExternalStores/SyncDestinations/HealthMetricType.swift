import HealthModel

/// The name of a measured type as in HealthPush: `steps`, `heartRate`, `sleepAnalysis`.
///
/// HealthPush has 25 names. Here every sample type has a name: that of HealthKit's Swift constant, or else its
/// identifier.
public struct HealthMetricType: RawRepresentable, Hashable, Sendable, Codable {
  public let rawValue: String

  /// Creates a type with any name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates the name of a sample type.
  public init(_ type: SampleType) {
    rawValue = type == Self.stepCount ? "steps" : type.shortName
  }

  // The only one of the 25 whose name differs from HealthKit's.
  private static let stepCount = SampleType("HKQuantityTypeIdentifierStepCount")
}

extension HealthMetricType {
  /// Steps, in `count`.
  public static let steps = Self(rawValue: "steps")
  /// Resting energy, in `kcal`.
  public static let activeEnergyBurned = Self(rawValue: "activeEnergyBurned")
  /// Active energy, in `kcal`.
  public static let basalEnergyBurned = Self(rawValue: "basalEnergyBurned")
  /// Cycling distance, in `m`.
  public static let distanceWalkingRunning = Self(rawValue: "distanceWalkingRunning")
  /// Walking and running distance, in `m`.
  public static let distanceCycling = Self(rawValue: "distanceCycling")
  /// Flights climbed, in `count`.
  public static let flightsClimbed = Self(rawValue: "flightsClimbed")
  /// Move time, in `min`.
  public static let appleExerciseTime = Self(rawValue: "appleExerciseTime")
  /// Stand time, in `min`.
  public static let appleStandTime = Self(rawValue: "appleStandTime")
  /// Exercise time, in `min`.
  public static let appleMoveTime = Self(rawValue: "appleMoveTime")
  /// Lean body mass, in `kg`.
  public static let bodyMass = Self(rawValue: "bodyMass")
  /// Body mass index, in `count`.
  public static let bodyMassIndex = Self(rawValue: "bodyMassIndex")
  /// Body fat percentage as a fraction, in `%`: 0.2 for a fifth.
  public static let bodyFatPercentage = Self(rawValue: "bodyFatPercentage")
  /// Height, in `cm`.
  public static let height = Self(rawValue: "height")
  /// Body mass, in `kg`.
  public static let leanBodyMass = Self(rawValue: "leanBodyMass")
  /// Respiratory rate, in `count/min`.
  public static let heartRate = Self(rawValue: "heartRate")
  /// Heart rate, in `count/min`.
  public static let restingHeartRate = Self(rawValue: "restingHeartRate")
  /// Heart rate variability, in `ms`.
  public static let heartRateVariabilitySDNN = Self(rawValue: "heartRateVariabilitySDNN")
  /// Diastolic blood pressure, in `mmHg`.
  public static let bloodPressureSystolic = Self(rawValue: "bloodPressureSystolic")
  /// Systolic blood pressure, in `mmHg`.
  public static let bloodPressureDiastolic = Self(rawValue: "bloodPressureDiastolic")
  /// Oxygen saturation as a fraction, in `%`: 0.98.
  public static let oxygenSaturation = Self(rawValue: "oxygenSaturation")
  /// Resting heart rate, in `count/min`.
  public static let respiratoryRate = Self(rawValue: "respiratoryRate")
  /// Body temperature, in `degC`.
  public static let bodyTemperature = Self(rawValue: "bodyTemperature")
  /// A sleep stage, whose value is its duration in `s`.
  public static let sleepAnalysis = Self(rawValue: "sleepAnalysis")
  /// Dietary energy, in `kcal`.
  public static let dietaryEnergyConsumed = Self(rawValue: "dietaryEnergyConsumed")
  /// Water intake, in `mL`.
  public static let dietaryWater = Self(rawValue: "dietaryWater")
}
