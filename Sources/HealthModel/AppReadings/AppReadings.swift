/// The mapping from app readings, such as the steps of a day, to HealthKit types.
///
/// A reading is not a HealthKit sample and has a type of its own (`hae.step_count`). It answers queries about the
/// HealthKit type if there are no samples: `docs/reference/statistics.md`, "Readings of apps".
package enum AppReadings {
  /// The member names for each HealthKit type, for readings that contain several numbers.
  private static let members = [
    "hae.blood_pressure": ["BloodPressureSystolic": "systolic", "BloodPressureDiastolic": "diastolic"]
  ].mapValues { names in
    Dictionary(uniqueKeysWithValues: names.map { (SampleType("HKQuantityTypeIdentifier\($0.key)"), $0.value) })
  }

  private static let byReading: [SampleType: SampleType] = {
    var types: [SampleType: SampleType] = [:]
    for (name, type) in AutoExportMetrics.types { types[SampleType("hae.\(name)")] = type }
    for (key, identifier) in HealthPushMetric.identifiers where identifier.hasPrefix("HKQuantityTypeIdentifier") {
      types[SampleType("healthpush.\(key)")] = SampleType(identifier)
    }
    for (key, metric) in DailySummaryMetric.known { types[SampleType("p247.\(key)")] = metric.type }
    for type in SleepReading.types { types[type] = SampleType("HKCategoryTypeIdentifierSleepAnalysis") }
    return types
  }()

  private static let byType: [SampleType: [SampleType]] = {
    var readings = Dictionary(grouping: byReading.keys) { byReading[$0] ?? $0 }
    for (name, types) in members {
      for type in types.keys { readings[type, default: []].append(SampleType(name)) }
    }
    return readings.mapValues { $0.sorted { $0.rawValue < $1.rawValue } }
  }()

  /// Whether a type is one of an app's own, and none that Apple's export or HealthKit could have.
  package static func isOwnType(_ type: SampleType) -> Bool {
    ["hae.", "healthpush.", "p247."].contains { type.rawValue.begins(with: $0) }
  }

  /// Returns the HealthKit type of a reading type, or `nil` for other types and for readings of several types.
  package static func healthKit(_ type: SampleType) -> SampleType? { byReading[type] }

  /// Returns the reading types that report a HealthKit type, sorted.
  package static func types(of type: SampleType) -> [SampleType] { byType[type] ?? [] }

  /// Returns the HealthKit types that the given reading types report.
  package static func answered(by types: some Sequence<SampleType>) -> Set<SampleType> {
    types.reduce(into: []) { answered, type in
      if let found = byReading[type] { answered.insert(found) }
      if let several = members[type.rawValue] { answered.formUnion(several.keys) }
    }
  }

  /// Returns the member of a reading that reports `type`, or `nil` for a reading with a single number.
  package static func member(of reading: SampleType, for type: SampleType) -> String? {
    members[reading.rawValue]?[type]
  }

  /// Converts a reading's number to HealthKit's canonical unit. Returns `nil` if the unit does not convert.
  ///
  /// - Parameters:
  ///   - unit: the app's unit, empty if the app gives none.
  ///   - type: the HealthKit type.
  package static func value(_ value: Double, _ unit: String, of reading: SampleType, for type: SampleType) -> Double? {
    guard value.isFinite, let target = SampleTypeCatalogue.healthKit[type]?.canonicalUnit else { return nil }
    // Apps give percentages from 0 to 100; HealthKit uses fractions.
    let (factor, name) = unit == "%" ? (0.01, "%") : (1, unit)
    guard !unit.isEmpty else { return value }
    let known = MolarUnit.long(units[name] ?? name, of: type)
    return UnitConversion.convert(value * factor, from: known, to: target)
  }

  /// Returns a reading's number for a type in HealthKit's unit: its only number, its mean, or the member for the
  /// type. Returns `nil` if it has none.
  package static func value(of reading: Sample, for type: SampleType) -> Double? {
    switch reading.payload {
    case .quantity(let quantity):
      member(of: reading.type, for: type) == nil
        ? value(quantity.value, quantity.unit, of: reading.type, for: type) : nil
    case .unknown(_, .object(let members)): value(of: members, reading.type, for: type)
    default: nil
    }
  }

  /// Returns the number for a type from the members of a reading with several numbers.
  package static func value(
    of members: [String: JSONValue], _ reading: SampleType, for type: SampleType
  ) -> Double? {
    if let name = member(of: reading, for: type) { return number(name, of: members, reading, for: type) }
    return number("Avg", of: members, reading, for: type) ?? number("qty", of: members, reading, for: type)
  }

  /// Returns a member of a reading with several numbers, in HealthKit's unit.
  package static func number(
    _ name: String, of members: [String: JSONValue], _ reading: SampleType, for type: SampleType
  ) -> Double? {
    var unit = ""
    if case .string(let text)? = members["units"] { unit = text }
    return switch members[name] {
    case .integer(let integer)?: value(Double(integer), unit, of: reading, for: type)
    case .number(let number)?: value(number, unit, of: reading, for: type)
    default: nil
    }
  }

  /// HealthKit's unit strings by the apps' spellings.
  private static let units = [
    "bpm": "count/min", "breaths/min": "count/min", "steps": "count", "flights": "count", "°C": "degC", "°F": "degF",
    "ml": "mL", "l": "L", "ml/(kg·min)": "mL/min·kg", "mL/kg/min": "mL/min·kg", "ml/kg/min": "mL/min·kg",
    "kcal/(hr·kg)": "kcal/hr·kg", "kcal/(kg·hr)": "kcal/hr·kg", "km/h": "km/hr", "mph": "mi/hr", "h": "hr",
    "ug": "mcg", "fl. oz": "fl_oz_us", "fl oz": "fl_oz_us", "cup": "cup_us", "dB": "dBASPL", "rpm": "count/min",
  ]
}
