import HealthModel

/// Writes JSON in the form that Health Auto Export (version 2) uses without aggregation: one point for each sample.
///
/// Each point has `startDate` and `endDate` beside the `date` of the app's other points, so that readers do not take
/// it for the sum of a minute or a day. Dates have whole seconds.
///
/// ```swift
/// func write(_ samples: [Sample]) -> [UInt8] {
///   var writer = HealthAutoExportWriter(offset: 7200)
///   var bytes: [UInt8] = []
///   writer.begin(into: &bytes)
///   for sample in samples where !writer.append(sample, members: [], to: &bytes) { print("no place for", sample.type) }
///   writer.end(into: &bytes)
///   return bytes
/// }
/// ```
public struct HealthAutoExportWriter: SelectiveFileWriter {
  /// The part of the file that is being written.
  private enum Place {
    case beginning
    /// The points of the metric of this name.
    case metric(String)
    case workouts
  }

  private let text: AppleText
  private var place = Place.beginning
  private var isFirst = true

  /// - Parameter offset: the UTC offset of all printed dates, in seconds and whole minutes.
  public init(offset: Int) {
    text = AppleText(offset: offset)
  }

  public func begin(into bytes: inout [UInt8]) { bytes.append("{\"data\":{") }

  public mutating func end(into bytes: inout [UInt8]) {
    switch place {
    case .beginning: break
    case .metric: bytes.append("\n]}\n]")
    case .workouts: bytes.append("\n]")
    }
    bytes.append("}}\n")
  }

  /// Writes a sample. Workouts must follow all other samples. Routes need ``beginWorkout(_:to:)``.
  public mutating func append(_ sample: Sample, members: [Sample], to bytes: inout [UInt8]) -> Bool {
    if case .workout = sample.payload {
      guard beginWorkout(sample, to: &bytes) else { return false }
      endWorkout(to: &bytes)
      return true
    }
    guard let (name, units) = Self.metric(of: sample), isDated(sample) else { return false }
    var members = Self.values(of: sample, members)
    guard !members.isEmpty else { return false }
    if case .workouts = place { return false }
    let start = text.date(sample.start)
    let dates = [("date", start), ("startDate", start), ("endDate", text.date(sample.end))]
    members.insert(contentsOf: dates.map { ($0, .text($1)) }, at: 0)
    members.append(("source", .text(sample.source.name)))
    begin(metric: name, units, &bytes)
    Self.write(members, to: &bytes)
    return true
  }

  /// Returns whether both dates are in the years that the app's date format can express.
  private func isDated(_ sample: Sample) -> Bool {
    let years = Timestamp(seconds: -62_135_510_400)..<Timestamp(seconds: 253_402_214_400)
    return years.contains(sample.start) && years.contains(sample.end)
  }

  private mutating func begin(metric name: String, _ units: String, _ bytes: inout [UInt8]) {
    switch place {
    case .metric(name): bytes.append(",")
    case .metric, .beginning:
      if case .beginning = place { bytes.append("\"metrics\":[\n") } else { bytes.append("\n]},\n") }
      bytes.append("{\"name\":")
      bytes.append(quoted: name)
      bytes.append(",\"units\":")
      bytes.append(quoted: units)
      bytes.append(",\"data\":[")
      place = .metric(name)
    case .workouts: return
    }
    bytes.append("\n")
  }

  // MARK: Points

  private enum Value {
    case number(Double)
    case text(String)
    case flag(Bool)
    case quantity(Double, String)
    case object([(name: String, value: Value)])
  }

  /// Returns the name and unit of a sample's metric, or `nil` if the app has no metric for its type.
  private static func metric(of sample: Sample) -> (name: String, units: String)? {
    if let metric = AutoExportMetrics.metric(of: sample.type) { return (metric.name, metric.label) }
    switch sample.type.rawValue {
    case "HKCategoryTypeIdentifierSleepAnalysis": return ("sleep_analysis", "hr")
    case "HKCategoryTypeIdentifierMindfulSession": return ("mindful_minutes", "min")
    case "HKCategoryTypeIdentifierAppleStandHour": return ("apple_stand_hour", "count")
    case "HKCategoryTypeIdentifierHandwashingEvent": return ("handwashing", "s")
    case "HKCategoryTypeIdentifierToothbrushingEvent": return ("toothbrushing", "s")
    case "HKCategoryTypeIdentifierSexualActivity": return ("sexual_activity", "count")
    case "HKCorrelationTypeIdentifierBloodPressure": return ("blood_pressure", "mmHg")
    default: return nil
    }
  }

  /// Returns a point's members beside its dates and source; empty if the sample has no usable value.
  private static func values(of sample: Sample, _ members: [Sample]) -> [(name: String, value: Value)] {
    let seconds = Double(sample.end.microseconds - sample.start.microseconds) / 1_000_000
    switch sample.payload {
    case .quantity(let quantity):
      guard let metric = AutoExportMetrics.metric(of: sample.type), let value = metric.value(quantity) else {
        return []
      }
      return self.values(value, of: metric.name, sample)
    case .category(let category):
      switch sample.type.rawValue {
      case "HKCategoryTypeIdentifierSleepAnalysis":
        guard let stage = category.value.flatMap({ stages[$0] }) else { return [] }
        return [("qty", .number(seconds / 3600)), ("value", .text(stage))]
      case "HKCategoryTypeIdentifierMindfulSession": return [("qty", .number(seconds / 60))]
      // HKCategoryValueAppleStandHour: 0 is stood, 1 is idle.
      case "HKCategoryTypeIdentifierAppleStandHour": return [("qty", .number(category.value == 0 ? 1 : 0))]
      case "HKCategoryTypeIdentifierSexualActivity":
        let key = sample.metadata["HKSexualActivityProtectionUsed"].flatMap(number)
        let name = key == nil ? "Unspecified" : key == 0 ? "Protection Not Used" : "Protection Used"
        return ["Unspecified", "Protection Used", "Protection Not Used"].map { ($0, .number($0 == name ? 1 : 0)) }
      default: return [("qty", .number(seconds))]
      }
    case .correlation:
      let pressures = ["Systolic", "Diastolic"].map { name in
        members.lazy.compactMap { member -> Double? in
          guard member.type.rawValue == "HKQuantityTypeIdentifierBloodPressure" + name,
            case .quantity(let quantity) = member.payload
          else { return nil }
          return UnitConversion.convert(quantity.value, from: quantity.unit, to: "mmHg")
        }.first { $0.isFinite }
      }
      guard let systolic = pressures[0], let diastolic = pressures[1] else { return [] }
      return [("systolic", .number(systolic)), ("diastolic", .number(diastolic))]
    default: return []
    }
  }

  private static func values(_ value: Double, of metric: String, _ sample: Sample) -> [(name: String, value: Value)] {
    switch metric {
    // The app has no other form for heart rates.
    case "heart_rate": return [("Min", .number(value)), ("Avg", .number(value)), ("Max", .number(value))]
    case "blood_glucose":
      let times = [1.0: "Before Meal", 2: "After Meal"]
      let time = sample.metadata["HKBloodGlucoseMealTime"].flatMap(number).flatMap { times[$0] }
      return [("qty", .number(value)), ("mealTime", .text(time ?? "Unspecified"))]
    case "insulin_delivery":
      let reasons = [1.0: "Basal", 2: "Bolus"]
      let reason = sample.metadata["HKInsulinDeliveryReason"].flatMap(number).flatMap { reasons[$0] }
      return [("qty", .number(value))] + (reason.map { [("reason", .text($0))] } ?? [])
    default: return [("qty", .number(value))]
    }
  }

  /// The app's names for the values of `HKCategoryValueSleepAnalysis`.
  private static let stages: [Int64: String] = [
    0: "In Bed", 1: "Asleep", 2: "Awake", 3: "Core", 4: "Deep", 5: "REM",
  ]

  /// Returns a metadata value as a number. Apple's export stores numbers as text.
  private static func number(_ value: MetadataValue) -> Double? {
    switch value {
    case .integer(let integer): Double(integer)
    case .number(let number): number
    case .bool(let flag): flag ? 1 : 0
    case .string(let text): Double(text)
    case .date: nil
    }
  }

  // MARK: Workouts

  /// Begins a workout. Add its points with ``append(route:to:)``, then call ``endWorkout(to:)``.
  ///
  /// - Returns: false, and nothing is written, if the sample is not a workout or its dates cannot be expressed.
  public mutating func beginWorkout(_ sample: Sample, to bytes: inout [UInt8]) -> Bool {
    guard case .workout(let workout) = sample.payload, isDated(sample) else { return false }
    switch place {
    case .beginning: bytes.append("\"workouts\":[\n")
    case .metric: bytes.append("\n]}\n],\n\"workouts\":[\n")
    case .workouts: bytes.append(",\n")
    }
    place = .workouts
    isFirst = true
    var members: [(name: String, value: Value)] = [
      ("id", .text(sample.uuid.uuidString)), ("name", .text(workout.activityType.displayName)),
      ("start", .text(text.date(sample.start))), ("end", .text(text.date(sample.end))),
    ]
    if let duration = workout.duration, duration.isFinite { members.append(("duration", .number(duration))) }
    if let indoor = sample.metadata["HKIndoorWorkout"].flatMap(Self.number) {
      members.append(("isIndoor", .flag(indoor != 0)))
    }
    let distances = ["DistanceWalkingRunning", "DistanceCycling", "DistanceSwimming"]
    for (name, total, types, unit) in [
      ("activeEnergyBurned", "totalEnergyBurned", ["ActiveEnergyBurned"], "kcal"),
      ("distance", "totalDistance", distances, "km"),
      ("totalSwimmingStrokeCount", "totalSwimmingStrokeCount", ["SwimmingStrokeCount"], "count"),
      ("flightsClimbed", "totalFlightsClimbed", ["FlightsClimbed"], "count"),
    ] {
      guard let value = Self.total(total, of: workout, types, in: unit) else { continue }
      members.append((name, .quantity(value, unit)))
    }
    members += Self.heartRates(of: workout)
    Self.write(members, to: &bytes, isOpen: true)
    return true
  }

  /// Returns a workout's total from its attribute or, since iOS 16, from the first of these statistics with a sum.
  private static func total(_ name: String, of workout: Workout, _ types: [String], in unit: String) -> Double? {
    let sum = types.lazy.compactMap { type in
      workout.statistics.first { $0.type.rawValue == "HKQuantityTypeIdentifier" + type && $0.sum != nil }
    }.first
    let quantity = workout.totals[name] ?? sum.flatMap { sum in sum.sum.map { Quantity($0, sum.unit ?? "") } }
    guard let quantity, let value = UnitConversion.convert(quantity.value, from: quantity.unit, to: unit),
      value.isFinite
    else { return nil }
    return value
  }

  private static func heartRates(of workout: Workout) -> [(name: String, value: Value)] {
    let statistics = workout.statistics.first { $0.type.rawValue == "HKQuantityTypeIdentifierHeartRate" }
    guard let statistics, let unit = statistics.unit else { return [] }
    let rates = [("min", statistics.minimum), ("avg", statistics.average), ("max", statistics.maximum)].compactMap {
      name, rate -> (name: String, value: Value)? in
      guard let rate, let value = UnitConversion.convert(rate, from: unit, to: "count/min"), value.isFinite else {
        return nil
      }
      return (name, .quantity(value, "bpm"))
    }
    if rates.isEmpty { return [] }
    let single = rates.filter { $0.name != "min" }.map { (name: $0.name + "HeartRate", value: $0.value) }
    return single + [("heartRate", .object(rates))]
  }

  /// Adds the points of a route, or of a part of a route, to the current workout.
  ///
  /// - Returns: false, and nothing is written, if the sample is not a route.
  public mutating func append(route sample: Sample, to bytes: inout [UInt8]) -> Bool {
    guard case .workoutRoute(let route) = sample.payload else { return false }
    for point in route.points {
      let numbers: [(String, Double?)] = [
        ("latitude", point.latitude), ("longitude", point.longitude), ("altitude", point.elevation),
        ("course", point.course), ("horizontalAccuracy", point.horizontalAccuracy),
        ("verticalAccuracy", point.verticalAccuracy), ("speed", point.speed),
      ]
      guard point.latitude.isFinite, point.longitude.isFinite else { continue }
      if isFirst { bytes.append(",\"route\":[\n") } else { bytes.append(",\n") }
      isFirst = false
      var members = numbers.compactMap { name, value -> (name: String, value: Value)? in
        guard let value, value.isFinite else { return nil }
        return (name, .number(value))
      }
      if let date = point.date(from: sample.start) { members.append(("timestamp", .text(text.date(date)))) }
      Self.write(members, to: &bytes)
    }
    return true
  }

  /// Ends the current workout.
  public mutating func endWorkout(to bytes: inout [UInt8]) {
    bytes.append(isFirst ? "}" : "\n]}")
    isFirst = true
  }

  // MARK: JSON

  /// Writes an object.
  ///
  /// - Parameter isOpen: whether more members follow; the closing brace is then omitted.
  private static func write(
    _ members: [(name: String, value: Value)], to bytes: inout [UInt8], isOpen: Bool = false
  ) {
    bytes.append("{")
    for (index, member) in members.enumerated() {
      if index > 0 { bytes.append(",") }
      bytes.append(quoted: member.name)
      bytes.append(":")
      switch member.value {
      case .number(let number): bytes.append(number: number)
      case .text(let text): bytes.append(quoted: text)
      case .flag(let flag): bytes.append(flag ? "true" : "false")
      case .quantity(let number, let unit):
        write([("qty", .number(number)), ("units", .text(unit))], to: &bytes)
      case .object(let members): write(members, to: &bytes)
      }
    }
    if !isOpen { bytes.append("}") }
  }
}
