import Foundation
import HealthModel

extension SampleMaker {
  /// Samples of every type in the catalogue as a phone stores them: every named category value, all sleep stages, and
  /// a blood pressure and a meal with their members.
  public static var catalogue: [Sample] {
    var maker = SampleMaker(seed: 3)
    return SampleTypeCatalogue.healthKit.entries.flatMap { entry in
      maker.payloads(of: entry).map { maker.sample(of: entry.type, $0) }
    } + maker.correlated()
  }

  private mutating func sample(of type: SampleType, _ payload: Payload) -> Sample {
    var sample = steps(at: Int.random(in: 0..<500_000, using: &random))
    sample.type = type
    sample.payload = payload
    sample.start.microseconds += 250_000
    if case .quantity = payload, random.oneIn(2) { sample.end = sample.start }
    sample.created = Timestamp(seconds: sample.end.seconds + 5)
    sample.source = random.pick([
      Source(name: "Casey\u{2019}s\u{A0}Apple Watch", bundleIdentifier: "com.apple.health.12", version: "10.3.1"),
      Source(name: "Scale"),
    ])
    if random.oneIn(2) {
      sample.device = Device(
        name: "Apple Watch", manufacturer: "Apple Inc.", model: "Watch", hardwareVersion: "Watch6,2",
        firmwareVersion: "1", softwareVersion: "10.3.1", localIdentifier: "A-B", udiDeviceIdentifier: "(01)0",
        text: "a strap")
      sample.metadata = ["HKTimeZone": "Europe/Berlin", "HKWasUserEntered": .bool(false), "factor": .number(1.5)]
    }
    return sample
  }

  private func payloads(of entry: SampleTypeCatalogue.Entry) -> [Payload] {
    switch entry.kind {
    case .quantity:
      let unit = entry.canonicalUnit ?? "count"
      let others = [
        "m": "mi", "kg": "lb", "degC": "degF", "g": "mcg", "kcal": "kJ", "cm": "ft", "count/min": "count/s",
      ]
      let molar = unit == "mg/dL" ? ["mmol<180.1558800000541>/L"] : []
      return [Quantity(unit == "%" ? 0.975 : 61.5, unit)].map(Payload.quantity)
        + ([others[unit]].compactMap(\.self) + molar).map { .quantity(Quantity(12.25, $0)) }
    case .category:
      let named = (0...10).filter { CategoryValueNames.healthKit.name(of: $0, type: entry.type) != nil }
      return (named + [77]).map { .category(CategoryValue(value: $0)) }
    case .characteristic:
      let told = [
        Person.Trait.dateOfBirth.type: "1986-05-17", Person.Trait.biologicalSex.type: "HKBiologicalSexFemale",
        Person.Trait.bloodType.type: "HKBloodTypeONegative",
      ]
      return [.characteristic(CharacteristicValue(value: told[entry.type] ?? "I"))]
    case .correlation: return [.correlation(Correlation(members: []))]
    case .workout: return [.workout(Self.run)]
    case .activitySummary:
      return [
        .activitySummary(
          ActivitySummary(
            date: "2024-06-15",
            attributes: [
              "activeEnergyBurned": "300.5", "activeEnergyBurnedGoal": "400", "activeEnergyBurnedUnit": "kcal",
              "appleExerciseTime": "30", "appleStandHours": "12",
            ]))
      ]
    case .electrocardiogram:
      return [
        .electrocardiogram(
          Electrocardiogram(
            classification: "Sinus Rhythm", symptoms: "None", averageHeartRate: 61, samplingFrequency: 512,
            lead: "Lead I", unit: "µV", voltages: [12.5, -7, 0, 1e-7, .nan]))
      ]
    case .audiogram:
      return [
        .audiogram(
          Audiogram(points: [
            SensitivityPoint(
              frequency: Quantity(250, "Hz"), left: EarSensitivity(threshold: Quantity(12.5, "dBHL")))
          ]))
      ]
    case .visionPrescription:
      return [
        .visionPrescription(VisionPrescription(right: ["sphere": Quantity(-1.25, "D"), "axis": Quantity(90, "deg")]))
      ]
    case .workoutRoute: return [.workoutRoute(WorkoutRoute(points: [RoutePoint(latitude: 1, longitude: 2)]))]
    case .clinicalRecord:
      let resource: JSONValue = .object(["resourceType": .string("AllergyIntolerance"), "id": .string("1")])
      return [.clinicalRecord(ClinicalRecord(identifier: "1", fhirVersion: "4.0.1", resource: resource))]
    case .heartbeatSeries, .stateOfMind, .medicationDoseEvent, .scoredAssessment:
      return [.unknown(kind: entry.kind.rawValue, content: .object(["a": .array([.number(1.5), .string("x")])]))]
    }
  }

  private static let run = Workout(
    activityType: .value(37), duration: 1800.5,
    totals: ["totalDistance": Quantity(5, "km"), "totalEnergyBurned": Quantity(300, "kcal")],
    statistics: [
      WorkoutStatistics(
        type: SampleType("HKQuantityTypeIdentifierHeartRate"), average: 140, minimum: 90, maximum: 170,
        unit: "count/min"),
      WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"), sum: 300, unit: "kcal"),
    ])

  private mutating func correlated() -> [Sample] {
    var samples: [Sample] = []
    for (group, members) in [
      ("BloodPressure", [("BloodPressureSystolic", "mmHg"), ("BloodPressureDiastolic", "mmHg")]),
      ("Food", [("DietaryProtein", "g"), ("DietaryEnergyConsumed", "kcal")]),
    ] {
      let parts = members.map { name, unit in
        sample(of: SampleType("HKQuantityTypeIdentifier\(name)"), .quantity(Quantity(80.5, unit)))
      }
      samples += parts
      samples.append(
        sample(
          of: SampleType("HKCorrelationTypeIdentifier\(group)"),
          .correlation(Correlation(members: parts.map(\.reference)))))
    }
    return samples
  }
}
