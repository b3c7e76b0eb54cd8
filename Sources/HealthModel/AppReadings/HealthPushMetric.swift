import Foundation

/// The name and unit of a sample type in HealthPush's files.
package struct HealthPushMetric: Hashable, Sendable {
  /// The metric's key, a part of the object name: `heart_rate`.
  package let key: String
  /// The kind: `quantity`, `cumulative` or `category`, or the kind of a ``Payload`` for types that HealthPush does
  /// not know.
  package let kind: String
  /// The unit label of values, or `nil` if each sample has its own.
  package let unit: String?
  /// The unit that HealthPush's values are actually in, for the six types whose ``unit`` label is wrong.
  package let mislabelledUnit: String?

  private init(_ key: String, _ kind: String, _ unit: String?, writtenIn mislabelledUnit: String? = nil) {
    self.key = key
    self.kind = kind
    self.unit = unit
    self.mislabelledUnit = mislabelledUnit
  }

  /// Creates the metric of a type.
  ///
  /// - Parameter payload: the kind of the sample's ``Payload``, or `nil` for a deleted sample, whose kind is unknown.
  package init(_ type: SampleType, payload: String?) {
    if let known = Self.known[type.rawValue] {
      self = known
      return
    }
    let entry = SampleTypeCatalogue.healthKit[type]
    let kind =
      switch payload ?? entry?.kind.rawValue ?? "unknown" {
      case "quantity": entry?.aggregation == .cumulative ? "cumulative" : "quantity"
      case let other: other
      }
    self.init(Self.key(of: type), kind, entry?.canonicalUnit)
  }

  /// The 25 types that HealthPush writes.
  private static let known: [String: HealthPushMetric] = [
    "HKQuantityTypeIdentifierStepCount": .init("steps", "cumulative", "count"),
    "HKQuantityTypeIdentifierActiveEnergyBurned": .init("active_energy", "cumulative", "kcal"),
    "HKQuantityTypeIdentifierBasalEnergyBurned": .init("resting_energy", "cumulative", "kcal"),
    "HKQuantityTypeIdentifierDistanceWalkingRunning":
      .init("walking_running_distance", "cumulative", "m", writtenIn: "km"),
    "HKQuantityTypeIdentifierDistanceCycling": .init("cycling_distance", "cumulative", "m", writtenIn: "km"),
    "HKQuantityTypeIdentifierFlightsClimbed": .init("flights_climbed", "cumulative", "count"),
    "HKQuantityTypeIdentifierAppleExerciseTime": .init("exercise_minutes", "cumulative", "s", writtenIn: "min"),
    "HKQuantityTypeIdentifierAppleStandTime": .init("stand_time", "cumulative", "s", writtenIn: "min"),
    "HKQuantityTypeIdentifierAppleMoveTime": .init("move_time", "cumulative", "s", writtenIn: "min"),
    "HKQuantityTypeIdentifierBodyMass": .init("weight", "quantity", "kg"),
    "HKQuantityTypeIdentifierBodyMassIndex": .init("bmi", "quantity", "count"),
    "HKQuantityTypeIdentifierBodyFatPercentage": .init("body_fat", "quantity", "fraction"),
    "HKQuantityTypeIdentifierHeight": .init("height", "quantity", "m", writtenIn: "cm"),
    "HKQuantityTypeIdentifierLeanBodyMass": .init("lean_body_mass", "quantity", "kg"),
    "HKQuantityTypeIdentifierHeartRate": .init("heart_rate", "quantity", "count/min"),
    "HKQuantityTypeIdentifierRestingHeartRate": .init("resting_heart_rate", "quantity", "count/min"),
    "HKQuantityTypeIdentifierHeartRateVariabilitySDNN": .init("hrv", "quantity", "ms"),
    "HKQuantityTypeIdentifierBloodPressureSystolic": .init("blood_pressure_systolic", "quantity", "mmHg"),
    "HKQuantityTypeIdentifierBloodPressureDiastolic": .init("blood_pressure_diastolic", "quantity", "mmHg"),
    "HKQuantityTypeIdentifierOxygenSaturation": .init("blood_oxygen", "quantity", "fraction"),
    "HKQuantityTypeIdentifierRespiratoryRate": .init("respiratory_rate", "quantity", "count/min"),
    "HKQuantityTypeIdentifierBodyTemperature": .init("body_temperature", "quantity", "degC"),
    "HKCategoryTypeIdentifierSleepAnalysis": .init("sleep", "category", "s"),
    "HKQuantityTypeIdentifierDietaryEnergyConsumed": .init("dietary_energy", "cumulative", "kcal"),
    "HKQuantityTypeIdentifierDietaryWater": .init("water_intake", "cumulative", "mL"),
  ]

  /// HealthKit's identifiers of the 25 types by HealthPush's keys.
  package static let identifiers = Dictionary(uniqueKeysWithValues: known.map { ($1.key, $0) })

  /// Returns the metric of an identifier if it is among HealthPush's 25 types.
  package static func known(_ identifier: String) -> HealthPushMetric? { known[identifier] }

  // MARK: Values

  /// Converts a value to the unit of this metric's label.
  ///
  /// - Parameter isCompatible: whether to reproduce HealthPush's wrong numbers.
  /// - Returns: the value and its unit, or the arguments unchanged if they cannot be converted.
  package func value(_ value: Double, _ unit: String, isCompatible: Bool) -> (value: Double, unit: String) {
    guard let label = self.unit else { return (value, unit) }
    let target = isCompatible ? mislabelledUnit ?? label : label
    guard let converted = UnitConversion.convert(value, from: unit, to: target == "fraction" ? "%" : target) else {
      return (value, unit)
    }
    return (converted, label)
  }

  /// Returns the correct value for a number in a HealthPush file, undoing its unit error.
  package func repaired(_ value: Double, _ unit: String) -> Double {
    guard let mislabelledUnit, unit == self.unit else { return value }
    return UnitConversion.convert(value, from: mislabelledUnit, to: unit) ?? value
  }

  // MARK: Keys of what HealthPush does not know

  /// Returns a key derived only from the identifier, so that it never changes between versions: `vo2_max` for
  /// `HKQuantityTypeIdentifierVO2Max`, `workout` for `HKWorkoutTypeIdentifier`. Any other identifier follows `type.`,
  /// with `~` and two hexadecimal digits for each byte other than an ASCII letter, digit, `.`, `_` or `-`.
  private static func key(of type: SampleType) -> String {
    let name = type.rawValue
    for prefix in [
      "HKQuantityTypeIdentifier", "HKCategoryTypeIdentifier", "HKDataTypeIdentifier",
      "HKCorrelationTypeIdentifier", "HKCharacteristicTypeIdentifier", "HKScoredAssessmentTypeIdentifier",
      "HKClinicalTypeIdentifier",
    ]
    where name.utf8.starts(with: prefix.utf8) {
      if let key = snakeCase(name.utf8.dropFirst(prefix.utf8.count)) { return key }
    }
    if name.utf8.starts(with: "HK".utf8), name.hasSuffix("TypeIdentifier"),
      let key = snakeCase(name.utf8.dropFirst(2).dropLast("TypeIdentifier".utf8.count))
    {
      return key
    }
    // Object names have about 200 bytes to spare, and no known type is longer than 70.
    let escaped = name.utf8.reduce(into: "type.") { text, byte in
      text += isPlain(byte) ? String(UnicodeScalar(byte)) : "~" + hexadecimal(byte)
    }
    guard escaped.utf8.count > 120 else { return escaped }
    let hash = SampleIdentity.uuid(
      kind: "metric-key", type: type, source: "", start: Timestamp(seconds: 0), end: Timestamp(seconds: 0),
      created: nil,
      ordinal: 0)
    return "\(escaped.prefix(80))~\(hash.uuidString.lowercased())"
  }

  private static func isPlain(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) || "._-".utf8.contains(byte) }
  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
  private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }

  /// Returns a name in snake_case, or `nil` if it is not in UpperCamelCase.
  private static func snakeCase(_ text: some Sequence<UInt8>) -> String? {
    let bytes = Array(text)
    guard let first = bytes.first, isUpper(first), bytes.count <= 100,
      bytes.allSatisfy({ isLetter($0) || isDigit($0) })
    else { return nil }
    var result = ""
    for (index, byte) in bytes.enumerated() {
      if index > 0, isUpper(byte) {
        let followsAcronym = isUpper(bytes[index - 1])
        let beginsWord = index + 1 < bytes.count && !isUpper(bytes[index + 1]) && isLetter(bytes[index + 1])
        if !followsAcronym || beginsWord { result += "_" }
      }
      result.unicodeScalars.append(UnicodeScalar(isUpper(byte) ? byte | 0x20 : byte))
    }
    return result
  }
}
