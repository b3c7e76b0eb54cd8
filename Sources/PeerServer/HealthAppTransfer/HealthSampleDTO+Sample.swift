import Foundation
import HealthModel
import PeerProtocol

extension HealthSampleDTO {
  /// Whether the app has words for samples of this type.
  static func canSay(_ type: SampleType) -> Bool {
    switch SampleTypeCatalogue.healthKit[type]?.kind {
    case .quantity, .category, .workout, .correlation: true
    case .characteristic, .activitySummary, .electrocardiogram, .heartbeatSeries, .audiogram, .stateOfMind,
      .workoutRoute, .visionPrescription, .medicationDoseEvent, .scoredAssessment, .clinicalRecord, nil:
      false
    }
  }

  /// A sample in the app's shape; `nil` for what the app has no words for: its clients refuse a page with an unknown
  /// type.
  ///
  /// - Parameter members: the samples that a correlation names.
  init?(_ sample: Sample, members: [Sample], dates: DateSpelling) {
    guard let entry = SampleTypeCatalogue.healthKit[sample.type] else { return nil }
    self.init(
      id: sample.uuid.uuidString, type: entry.shortName, start: sample.start, end: sample.end,
      sourceName: sample.source.name, dates: dates)
    sourceBundleIdentifier = sample.source.bundleIdentifier
    metadataJSON = Self.metadata(sample.metadata)
    switch sample.payload {
    case .quantity(let quantity):
      let (value, unit) = Self.canonical(quantity, unit: entry.canonicalUnit)
      // JSON has no number for it, and one such sample must not make its whole page unreadable.
      guard value.isFinite else { return nil }
      self.value = value
      self.unit = unit
    case .category(let category):
      categoryValue = category.value
    case .workout(let workout):
      workoutActivityType = Self.number(of: workout.activityType)
      workoutDuration =
        workout.duration.flatMap(Self.finite)
        ?? Double(sample.end.microseconds &- sample.start.microseconds) / 1_000_000
      workoutTotalEnergyBurned =
        workout.total("totalEnergyBurned", statistics: ["ActiveEnergyBurned"], in: "kcal").flatMap(Self.finite)
      workoutTotalDistance =
        workout.total("totalDistance", statistics: Self.distances, in: "m").flatMap(Self.finite)
    case .correlation:
      unit = entry.canonicalUnit
      correlationValues = Self.values(of: members)
    default: return nil
    }
  }

  /// What the app calls a workout whose activity has no number here: left out, it would be missing there for good.
  private static let otherActivity: UInt = 3000

  private static func number(of activity: WorkoutActivityType) -> UInt {
    switch activity {
    case .value(let value): value
    case .name: otherActivity
    }
  }

  private static let distances = ["DistanceWalkingRunning", "DistanceCycling", "DistanceSwimming"]

  private static func finite(_ number: Double) -> Double? { number.isFinite ? number : nil }

  private static func canonical(_ quantity: Quantity, unit: String?) -> (Double, String) {
    guard let unit, let value = UnitConversion.convert(quantity.value, from: quantity.unit, to: unit) else {
      return (quantity.value, quantity.unit)
    }
    return (value, unit)
  }

  private static func values(of members: [Sample]) -> [String: Double] {
    var values: [String: Double] = [:]
    for member in members {
      guard case .quantity(let quantity) = member.payload,
        let entry = SampleTypeCatalogue.healthKit[member.type],
        let value = finite(canonical(quantity, unit: entry.canonicalUnit).0)
      else { continue }
      let name =
        switch entry.shortName {
        case "bloodPressureSystolic": "systolic"
        case "bloodPressureDiastolic": "diastolic"
        default: entry.shortName
        }
      values[name] = value
    }
    return values
  }

  private static func metadata(_ metadata: Metadata) -> String? {
    guard !metadata.isEmpty else { return nil }
    let object = metadata.mapValues { value -> JSONValue in
      switch value {
      case .string(let text): .string(text)
      case .integer(let integer): .integer(integer)
      case .number(let number): number.isFinite ? .number(number) : .string("\(number)")
      case .bool(let flag): .bool(flag)
      case .date(let date): .string(Timestamp(seconds: date.seconds).iso8601)
      }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return (try? encoder.encode(object)).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension Workout {
  /// A total by its attribute, or, since iOS 16, as the sum of the statistics of these quantity types.
  fileprivate func total(_ attribute: String, statistics names: [String], in unit: String) -> Double? {
    if let total = totals[attribute] { return UnitConversion.convert(total.value, from: total.unit, to: unit) }
    let sums = statistics.compactMap { entry -> Double? in
      guard names.contains(where: { entry.type.rawValue == "HKQuantityTypeIdentifier" + $0 }), let sum = entry.sum,
        let from = entry.unit
      else { return nil }
      return UnitConversion.convert(sum, from: from, to: unit)
    }
    return sums.isEmpty ? nil : sums.reduce(0, +)
  }
}
