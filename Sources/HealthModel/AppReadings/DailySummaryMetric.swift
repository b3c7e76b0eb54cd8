/// A metric in P247's daily summaries, with its HealthKit type and unit.
package struct DailySummaryMetric: Sendable {
  package var type: SampleType
  package var unit: String

  private init(_ name: String, _ unit: String) {
    (type, self.unit) = (SampleType("HKQuantityTypeIdentifier" + name), unit)
  }

  /// The metrics of P247's example and of its notes. `dietary_energy_kj` is in kilocalories, as P247 sends it.
  package static let known: [String: DailySummaryMetric] = [
    "step_count": .init("StepCount", "count"), "active_calories": .init("ActiveEnergyBurned", "kcal"),
    "hrv": .init("HeartRateVariabilitySDNN", "ms"), "resting_hr": .init("RestingHeartRate", "count/min"),
    "protein_g": .init("DietaryProtein", "g"), "dietary_energy_kj": .init("DietaryEnergyConsumed", "kcal"),
    "vo2_max": .init("VO2Max", "mL/min·kg"), "running_power": .init("RunningPower", "W"),
    "running_speed": .init("RunningSpeed", "m/s"), "running_stride_length": .init("RunningStrideLength", "m"),
    "running_vertical_oscillation": .init("RunningVerticalOscillation", "cm"),
    "running_ground_contact_time": .init("RunningGroundContactTime", "ms"),
  ]
}
