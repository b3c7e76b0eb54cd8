/// The names and units that the app Health Auto Export uses for HealthKit's quantities.
package enum AutoExportMetrics {
  package struct Metric: Sendable {
    /// The app's name for the metric.
    package var name: String
    /// The unit as the app prints it.
    package var label: String
    /// The unit in HealthKit's notation.
    package var unit: String

    /// Returns the quantity's value in ``unit``, with percentages from 0 to 100 instead of fractions. Returns `nil`
    /// if the unit does not convert or JSON cannot represent the number.
    package func value(_ quantity: Quantity) -> Double? {
      guard let value = UnitConversion.convert(quantity.value, from: quantity.unit, to: unit), value.isFinite else {
        return nil
      }
      // 0.07 is 7, not 7.000000000000001.
      return unit == "%" ? (value * 1e14).rounded() / 1e12 : value
    }
  }

  /// Returns the metric of a type, or `nil` if the app does not export the type as a metric of its own.
  package static func metric(of type: SampleType) -> Metric? { byType[type] }

  /// Returns the type of a metric, or `nil` if the metric is not a HealthKit quantity.
  package static func type(of name: String) -> SampleType? { byName[name] }

  /// HealthKit's types by the app's metric names.
  static var types: [String: SampleType] { byName }

  private static let byName = Dictionary(byType.map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })

  private static let byType = Dictionary(
    uniqueKeysWithValues: table.flatMap { unit, metrics in
      metrics.map { suffix, name in
        (
          SampleType("HKQuantityTypeIdentifier" + suffix),
          Metric(name: name, label: labels[unit] ?? unit, unit: unit)
        )
      }
    })

  private static let labels = ["mL/min·kg": "ml/(kg·min)"]

  private static let table: [String: [String: String]] = [
    "count": [
      "StepCount": "step_count", "FlightsClimbed": "flights_climbed", "PushCount": "push_count",
      "SwimmingStrokeCount": "swimming_stroke_count", "BodyMassIndex": "body_mass_index",
      "InhalerUsage": "inhaler_usage", "NumberOfTimesFallen": "number_of_times_fallen",
      "NumberOfAlcoholicBeverages": "alcohol_consumption",
      "AppleSleepingBreathingDisturbances": "breathing_disturbances",
    ],
    "km": [
      "DistanceWalkingRunning": "walking_running_distance", "DistanceCycling": "cycling_distance",
      "DistanceWheelchair": "distance_wheelchair",
      "DistanceDownhillSnowSports": "distance_downhill_snow_sports",
    ],
    "m": [
      "DistanceSwimming": "swimming_distance", "SixMinuteWalkTestDistance": "six_minute_walking_test_distance",
      "RunningStrideLength": "running_stride_length", "UnderwaterDepth": "underwater_depth",
    ],
    "cm": [
      "Height": "height", "WaistCircumference": "waist_circumference", "WalkingStepLength": "walking_step_length",
      "RunningVerticalOscillation": "running_vertical_oscillation",
    ],
    "kcal": [
      "ActiveEnergyBurned": "active_energy", "BasalEnergyBurned": "basal_energy_burned",
      "DietaryEnergyConsumed": "dietary_energy",
    ],
    "min": [
      "AppleExerciseTime": "apple_exercise_time", "AppleStandTime": "apple_stand_time",
      "AppleMoveTime": "apple_move_time", "TimeInDaylight": "time_in_daylight",
    ],
    "ms": [
      "HeartRateVariabilitySDNN": "heart_rate_variability",
      "HeartRateVariabilityRMSSD": "heart_rate_variability_rmssd",
      "RunningGroundContactTime": "running_ground_contact_time",
    ],
    "count/min": [
      "HeartRate": "heart_rate", "RestingHeartRate": "resting_heart_rate",
      "WalkingHeartRateAverage": "walking_heart_rate_average", "HeartRateRecoveryOneMinute": "cardio_recovery",
      "RespiratoryRate": "respiratory_rate", "CyclingCadence": "cycling_cadence",
    ],
    "%": [
      "OxygenSaturation": "blood_oxygen_saturation", "BodyFatPercentage": "body_fat_percentage",
      "WalkingAsymmetryPercentage": "walking_asymmetry_percentage",
      "WalkingDoubleSupportPercentage": "walking_double_support_percentage",
      "AtrialFibrillationBurden": "atrial_fibrillation_burden", "BloodAlcoholContent": "blood_alcohol_content",
      "PeripheralPerfusionIndex": "peripheral_perfusion_index",
    ],
    "degC": [
      "BodyTemperature": "body_temperature", "BasalBodyTemperature": "basal_body_temperature",
      "AppleSleepingWristTemperature": "apple_sleeping_wrist_temperature",
      "WaterTemperature": "underwater_temperature",
    ],
    "kg": ["BodyMass": "weight_body_mass", "LeanBodyMass": "lean_body_mass"],
    "km/hr": ["WalkingSpeed": "walking_speed", "RunningSpeed": "running_speed", "CyclingSpeed": "cycling_speed"],
    "m/s": ["StairAscentSpeed": "stair_speed_up", "StairDescentSpeed": "stair_speed_down"],
    "W": [
      "RunningPower": "running_power", "CyclingPower": "cycling_power",
      "CyclingFunctionalThresholdPower": "cycling_functional_threshold_power",
    ],
    "kcal/hr·kg": ["PhysicalEffort": "physical_effort"],
    "mL/min·kg": ["VO2Max": "vo2_max"],
    "mg/dL": ["BloodGlucose": "blood_glucose"],
    "IU": ["InsulinDelivery": "insulin_delivery"],
    "dBASPL": [
      "EnvironmentalAudioExposure": "environmental_audio_exposure",
      "HeadphoneAudioExposure": "headphone_audio_exposure",
    ],
    "L": ["ForcedExpiratoryVolume1": "forced_expiratory_volume_1", "ForcedVitalCapacity": "forced_vital_capacity"],
    "L/min": ["PeakExpiratoryFlowRate": "peak_expiratory_flow_rate"],
    "µS": ["ElectrodermalActivity": "electrodermal_activity"],
    "mL": ["DietaryWater": "dietary_water"],
    "g": [
      "DietaryCarbohydrates": "carbohydrates", "DietaryFatTotal": "total_fat",
      "DietaryFatPolyunsaturated": "polyunsaturated_fat", "DietaryFatMonounsaturated": "monounsaturated_fat",
      "DietaryFatSaturated": "saturated_fat", "DietaryProtein": "protein", "DietarySugar": "dietary_sugar",
      "DietaryFiber": "fiber",
    ],
    "mg": [
      "DietaryCholesterol": "cholesterol", "DietarySodium": "sodium", "DietaryCalcium": "calcium",
      "DietaryIron": "iron", "DietaryPotassium": "potassium", "DietaryVitaminB6": "vitamin_b6",
      "DietaryVitaminC": "vitamin_c", "DietaryVitaminE": "vitamin_e", "DietaryThiamin": "thiamin",
      "DietaryRiboflavin": "riboflavin", "DietaryNiacin": "niacin", "DietaryPantothenicAcid": "pantothenic_acid",
      "DietaryMagnesium": "magnesium", "DietaryZinc": "zinc", "DietaryCopper": "copper",
      "DietaryManganese": "manganese", "DietaryChloride": "chloride", "DietaryCaffeine": "caffeine",
    ],
    "mcg": [
      "DietaryVitaminA": "vitamin_a", "DietaryVitaminB12": "vitamin_b12", "DietaryVitaminD": "vitamin_d",
      "DietaryVitaminK": "vitamin_k", "DietaryBiotin": "dietary_biotin", "DietaryFolate": "folate",
      "DietaryIodine": "iodine", "DietarySelenium": "selenium", "DietaryChromium": "chromium",
      "DietaryMolybdenum": "molybdenum",
    ],
  ]
}
