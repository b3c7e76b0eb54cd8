import Foundation
import HealthModel

extension SampleMaker {
  /// Returns a random payload of any kind and a matching type.
  mutating func typeAndPayload() -> (SampleType, Payload) {
    switch Int.random(in: 0..<14, using: &random) {
    case 0...4: (random.pick(Self.quantityTypes), .quantity(Quantity(number(), random.pick(Self.units))))
    case 5, 6: (random.pick(Self.categoryTypes), .category(category()))
    case 7: (SampleType("HKCorrelationTypeIdentifierBloodPressure"), .correlation(Correlation(members: members())))
    case 8: (.workout, .workout(workout()))
    case 9: (.activitySummary, .activitySummary(activitySummary()))
    case 10:
      (random.pick(Self.characteristicTypes), .characteristic(CharacteristicValue(value: random.pick(Self.texts))))
    case 11: (.workoutRoute, .workoutRoute(route()))
    case 12: random.pick(Self.rarePayloads)
    default: (SampleType(random.pick(Self.texts)), .unknown(kind: random.pick(Self.kinds), content: json(depth: 3)))
    }
  }

  private static let quantityTypes = [
    stepCount, SampleType("HKQuantityTypeIdentifierHeartRate"),
    SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"),
    SampleType("HKQuantityTypeIdentifierOfTomorrow"),
  ]
  private static let units = [
    "count", "count/min", "kcal", "mL/min·kg", "mmol<180.1558800000541>/L", "", "ze\u{301}", "a\0b",
  ]
  private static let categoryTypes = [
    SampleType("HKCategoryTypeIdentifierSleepAnalysis"), SampleType("HKCategoryTypeIdentifierOfTomorrow"),
  ]
  private static let characteristicTypes = [
    SampleType("HKCharacteristicTypeIdentifierBiologicalSex"), SampleType("HKCharacteristicTypeIdentifierDateOfBirth"),
  ]
  /// Names of unknown kinds, some of which differ from a known kind by a character.
  private static let kinds = ["stateOfMind", "audiogram", "Quantity", "quantity\0", "workout\0x", "", "😴"]

  private static let rarePayloads: [(SampleType, Payload)] = [
    (
      .electrocardiogram,
      .electrocardiogram(
        Electrocardiogram(
          classification: "Sinus Rhythm", averageHeartRate: 61, samplingFrequency: 512, lead: "Lead I", unit: "µV",
          voltages: [12.5, -7, 0, 1e-7]))
    ),
    (
      SampleType("HKDataTypeIdentifierAudiogram"),
      .audiogram(
        Audiogram(points: [
          SensitivityPoint(
            frequency: Quantity(250, "Hz"),
            left: EarSensitivity(threshold: Quantity(12.5, "dBHL"), masked: true, lowerBound: -10, upperBound: 80),
            right: EarSensitivity())
        ]))
    ),
    (
      SampleType("HKVisionPrescriptionTypeIdentifier"),
      .visionPrescription(
        VisionPrescription(
          expires: Timestamp(seconds: 1_800_000_000), brand: "", right: ["sphere": Quantity(-1.25, "D")],
          attachments: [PrescriptionAttachment(identifier: "A"), PrescriptionAttachment(content: Data([0, 255]))]))
    ),
    (
      SampleType("HKClinicalTypeIdentifierLabResultRecord"),
      .clinicalRecord(
        ClinicalRecord(
          identifier: "6F1A", fhirVersion: "4.0.1", path: "/clinical-records/x.json",
          resource: .object(["resourceType": .string("Observation"), "value": .number(5.5)])))
    ),
  ]

  private mutating func route() -> WorkoutRoute {
    WorkoutRoute(
      workout: random.oneIn(3) ? nil : SampleReference(type: .workout, start: timestamp(), uuid: uuid()),
      path: random.oneIn(3) ? nil : random.pick(Self.texts),
      points: (0..<Int.random(in: 0...9, using: &random)).map { index in
        RoutePoint(
          time: Double(index), latitude: Double.random(in: -90...90, using: &random), longitude: number(),
          elevation: random.oneIn(2) ? nil : number(), verticalAccuracy: random.oneIn(2) ? nil : 4)
      })
  }

  private mutating func category() -> CategoryValue {
    CategoryValue(
      value: random.oneIn(6)
        ? nil : random.oneIn(10) ? random.pick([.min, .max, 1 << 53 + 1]) : Int64.random(in: 0...6, using: &random),
      name: random.oneIn(4) ? random.pick(Self.texts) : nil)
  }

  private mutating func members() -> [SampleReference] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in
      SampleReference(type: random.pick(Self.quantityTypes), start: timestamp(), uuid: uuid())
    }
  }

  private mutating func activitySummary() -> ActivitySummary {
    ActivitySummary(
      date: "2024-06-\(Int.random(in: 10...30, using: &random))",
      attributes: ["activeEnergyBurned": "\(number())", random.pick(Self.texts): random.pick(Self.texts)])
  }

  private mutating func workout() -> Workout {
    Workout(
      activityType: random.oneIn(4) ? .name(random.pick(Self.texts)) : .value(UInt.random(in: 1...84, using: &random)),
      duration: random.oneIn(3) ? nil : number(),
      totals: random.oneIn(2)
        ? [:] : ["totalDistance": Quantity(number(), "km"), random.pick(Self.texts): Quantity(number(), "")],
      statistics: random.oneIn(2) ? [] : [statistics(), statistics()],
      events: random.oneIn(2)
        ? []
        : [WorkoutEvent(type: random.pick(Self.texts), date: timestamp(), duration: number(), metadata: metadata())],
      activities: random.oneIn(2)
        ? []
        : [
          WorkoutActivity(
            uuid: random.pick(Self.texts), start: timestamp(), end: random.oneIn(2) ? nil : timestamp(), duration: nil,
            metadata: metadata(), statistics: [statistics()])
        ])
  }

  private mutating func statistics() -> WorkoutStatistics {
    WorkoutStatistics(
      type: random.pick(Self.quantityTypes), start: random.oneIn(2) ? nil : timestamp(), average: number(),
      sum: random.oneIn(2) ? nil : number(), unit: random.pick(Self.units))
  }

  /// Returns random JSON without reals that are whole, because JSON spells `1` and `1.0` alike.
  private mutating func json(depth: Int) -> JSONValue {
    switch Int.random(in: 0..<(depth == 0 ? 5 : 7), using: &random) {
    case 0: .null
    case 1: .bool(Bool.random(using: &random))
    case 2: .integer(random.oneIn(3) ? random.pick([.min, .max]) : Int64.random(in: -9...9, using: &random))
    case 3: .number(random.pick([0.5, -1.25, 1e-300, 1e300]))
    case 4: .string(random.pick(Self.texts))
    case 5: .array((0..<Int.random(in: 0...3, using: &random)).map { _ in json(depth: depth - 1) })
    default: .object([random.pick(Self.texts): json(depth: depth - 1), "x": json(depth: depth - 1)])
    }
  }
}
