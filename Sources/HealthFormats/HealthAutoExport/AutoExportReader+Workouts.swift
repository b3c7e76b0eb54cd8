import Foundation
import HealthModel

/// Workouts. Each is kept whole as `hae.workout`, and also becomes a HealthKit workout if it has HealthKit's UUID.
extension AutoExportReader {
  mutating func workout(_ members: [String: JSONValue], weight: Int, _ line: () -> Int) throws {
    var members = members
    // The app itself misspells this name.
    if let value = members.removeValue(forKey: "intesity"), members["intensity"] == nil { members["intensity"] = value }
    guard let start = date(members["start"], line) else {
      return collector.report.skipped.add("workouts: a workout without a readable start", line: line)
    }
    let end = date(members["end"], line) ?? start
    let source = Source(name: Self.appName)
    if hasSwappedUnits(members) {
      collector.report.remarks.add("workout whose energy has the units of another (kJ and kcal swapped)", line: line)
    }
    if let id = members["id"]?.text.flatMap(UUID.init(uuidString:)) {
      try collector.add(
        Sample(
          uuid: id, type: .workout, start: start, end: end, source: source, metadata: workoutMetadata(members),
          payload: .workout(workout(members, start: start, end: end))), weight: weight, line: line)
    }
    try add(
      reading: Sample(
        uuid: Self.noIdentity, type: SampleType("hae.workout"), start: start, end: end, source: source,
        payload: .foreign(Self.payloadKind, .object(members))), weight: weight, line: line)
  }

  private func workout(_ members: [String: JSONValue], start: Timestamp, end: Timestamp) -> Workout {
    var workout = Workout(activityType: Self.activityType(members["name"]?.text ?? ""))
    workout.duration = members["duration"]?.double
    let energy = Self.quantity(members["activeEnergyBurned"]).map { energy in
      hasSwappedUnits(members) ? Quantity(energy.value, seriesEnergy(members)?.unit ?? energy.unit) : energy
    }
    workout.totals["totalEnergyBurned"] = energy
    workout.totals["totalDistance"] = Self.quantity(members["distance"])
    workout.totals["totalSwimmingStrokeCount"] = Self.quantity(members["totalSwimmingStrokeCount"])
    workout.totals["totalFlightsClimbed"] = Self.quantity(members["flightsClimbed"])
    var rates: [String: JSONValue] = [:]
    if case .object(let object)? = members["heartRate"] { rates = object }
    let (average, maximum) = (rates["avg"] ?? members["avgHeartRate"], rates["max"] ?? members["maxHeartRate"])
    let statistics = WorkoutStatistics(
      type: SampleType("HKQuantityTypeIdentifierHeartRate"), start: start, end: end, average: Self.rate(average),
      minimum: Self.rate(rates["min"]), maximum: Self.rate(maximum), unit: "count/min")
    if statistics.average != nil || statistics.minimum != nil || statistics.maximum != nil {
      workout.statistics = [statistics]
    }
    return workout
  }

  private func workoutMetadata(_ members: [String: JSONValue]) -> Metadata {
    var metadata: Metadata = [:]
    if case .bool(let isIndoor)? = members["isIndoor"] { metadata["HKIndoorWorkout"] = .bool(isIndoor) }
    for key in ["name", "location"] { metadata["hae.\(key)"] = members[key]?.text.map { .string($0) } }
    return metadata
  }

  /// Returns HealthKit's activity type for an English or localised name. Other names are kept as text.
  private static func activityType(_ name: String) -> WorkoutActivityType {
    let places = ["Outdoor ", "Indoor ", "Pool ", "Open Water "]
    let bare = places.first { name.hasPrefix($0) }.map { String(name.dropFirst($0.count)) } ?? name
    let plain = ["Walk": "Walking", "Run": "Running", "Cycle": "Cycling", "Swim": "Swimming"][bare] ?? bare
    let type = WorkoutActivityType(exported: "HKWorkoutActivityType" + plain.filter { $0 != " " })
    if case .value = type { return type }
    return LocalisedActivities.type(name) ?? .name(name)
  }

  // MARK: Energy

  /// Returns whether the total energy and the sum of its series agree only after exchanging their units.
  private func hasSwappedUnits(_ members: [String: JSONValue]) -> Bool {
    guard let total = Self.quantity(members["activeEnergyBurned"]), let series = seriesEnergy(members),
      total.unit != series.unit, total.value > 0, series.value > 0,
      let plain = UnitConversion.convert(series.value, from: series.unit, to: total.unit),
      let exchanged = UnitConversion.convert(series.value, from: total.unit, to: series.unit)
    else { return false }
    func agrees(_ value: Double) -> Bool { abs(value - total.value) <= 0.02 * total.value }
    return agrees(exchanged) && !agrees(plain)
  }

  private func seriesEnergy(_ members: [String: JSONValue]) -> Quantity? {
    guard case .array(let points)? = members["activeEnergy"] else { return nil }
    let quantities = points.compactMap { Self.quantity($0) }
    guard let unit = quantities.first?.unit, quantities.allSatisfy({ $0.unit == unit }) else { return nil }
    return Quantity(quantities.reduce(0) { $0 + $1.value }, unit)
  }

  // MARK: Members

  /// Returns the quantity of a `{qty, units}` object.
  private static func quantity(_ value: JSONValue?) -> Quantity? {
    guard case .object(let members)? = value, let number = members["qty"]?.double else { return nil }
    return Quantity(number, members["units"]?.text ?? "")
  }

  /// Returns a heart rate in beats per minute from a `{qty, units}` object or a bare number.
  private static func rate(_ value: JSONValue?) -> Double? { value?.double ?? quantity(value)?.value }
}
