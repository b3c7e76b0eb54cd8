import Foundation
import HealthModel

extension HealthSampleDTO {
  /// The number of `HKWorkoutActivityType.other`, for activities without a number. A workout without any number would
  /// be lost in the app.
  private static let otherActivity: UInt = 3000

  /// Creates the app's form of a sample. Returns `nil` for samples that the app does not support, because its clients
  /// reject a page and its importer a file that contains an unknown type.
  ///
  /// - Parameter members: the available samples of a correlation's members.
  public init?(_ sample: Sample, members: [Sample], dates: DateSpelling) {
    guard let entry = AppTypes.entry(of: sample.type) else { return nil }
    var id: [UInt8] = []
    id.reserveCapacity(36)
    sample.uuid.append(to: &id)
    self.init(
      id: String(decoding: id, as: UTF8.self), type: entry.shortName, start: sample.start, end: sample.end,
      sourceName: sample.source.name, dates: dates)
    sourceBundleIdentifier = sample.source.bundleIdentifier
    metadataJSON = AppMetadata.text(of: sample.metadata, isCorrelation: entry.kind == .correlation)
    switch (sample.payload, entry.kind) {
    case (.quantity(let quantity), .quantity):
      let (value, unit) = Self.canonical(quantity, unit: entry.canonicalUnit)
      // JSON cannot represent the number, and one such sample must not make its whole page unreadable.
      guard value.isFinite else { return nil }
      self.value = value
      self.unit = unit
    case (.category(let category), .category):
      categoryValue = category.value
    case (.workout(let workout), .workout):
      workoutActivityType = Self.number(of: workout.activityType)
      workoutDuration =
        workout.duration.flatMap(Self.finite)
        ?? Double(sample.end.microseconds &- sample.start.microseconds) / 1_000_000
      workoutTotalEnergyBurned =
        workout.total("totalEnergyBurned", statistics: ["ActiveEnergyBurned"], in: "kcal").flatMap(Self.finite)
      workoutTotalDistance =
        workout.total("totalDistance", statistics: Self.distances, in: "m").flatMap(Self.finite)
    case (.correlation, .correlation):
      unit = entry.canonicalUnit
      let values = Self.values(of: members)
      correlationValues = values.isEmpty ? AppMetadata.correlationValues(in: sample.metadata) : values
    default: return nil
    }
  }

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
}

extension Workout {
  /// Returns the total of an attribute or, since iOS 16, the sum of the statistics of these quantity types.
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

// MARK: - Reading

extension HealthSampleDTO {
  /// The sample for the store, or `nil` if the app does not support the type or the value is missing.
  ///
  /// The app does not name the members of a correlation, so its values are kept as metadata.
  public var sample: Sample? {
    guard let entry = AppTypes.entry(named: type), let uuid = UUID(uuidString: id) else { return nil }
    var metadata = metadataJSON.map(AppMetadata.metadata) ?? [:]
    let payload: Payload
    switch entry.kind {
    case .quantity:
      guard let value else { return nil }
      payload = .quantity(Quantity(value, unit ?? entry.canonicalUnit ?? ""))
    case .workout:
      guard let workoutActivityType else { return nil }
      var totals: [String: Quantity] = [:]
      if let energy = workoutTotalEnergyBurned { totals["totalEnergyBurned"] = Quantity(energy, "kcal") }
      if let distance = workoutTotalDistance { totals["totalDistance"] = Quantity(distance, "m") }
      payload = .workout(
        Workout(activityType: .value(workoutActivityType), duration: workoutDuration, totals: totals))
    case .correlation:
      payload = .correlation(Correlation(members: [], isPartial: true))
      metadata.merge(AppMetadata.metadata(ofCorrelation: correlationValues ?? [:])) { $1 }
    default: payload = .category(CategoryValue(value: categoryValue))
    }
    return Sample(
      uuid: uuid, type: entry.type, start: start, end: end,
      source: Source(name: sourceName, bundleIdentifier: sourceBundleIdentifier), metadata: metadata, payload: payload)
  }
}
