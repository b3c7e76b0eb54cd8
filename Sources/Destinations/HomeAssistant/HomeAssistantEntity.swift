import Cryptography
import Foundation
import HealthAnalysis
import HealthModel

/// The presentation of a type in Home Assistant: its name, its unit, and the classes that describe the number
/// (developers.home-assistant.io/docs/core/entity/sensor).
struct HomeAssistantEntity: Hashable, Sendable {
  enum StateClass: String, Sendable {
    /// A current reading.
    case measurement
    /// A daily sum with its start. The class `total_increasing` would add a correction to the sum.
    case total
  }

  let type: SampleType
  /// The key in identifiers, such as `step_count`: lower-case ASCII letters, digits and `_`.
  let key: String
  let name: String
  /// The unit in Home Assistant's notation; `nil` for texts and for numbers without a unit.
  let unit: String?
  let deviceClass: String?
  /// The state class; `nil` for texts.
  let stateClass: StateClass?
  let icon: String?
  /// The number of decimal places to display.
  let precision: Int?
  /// The factor from the record's unit to ``unit``.
  private let factor: Double
  /// The conversion from the record's unit to the person's, if the person chose another unit.
  private let conversion: Conversion?

  private struct Conversion: Hashable, Sendable {
    var from: String
    var to: String
  }

  /// Creates the presentation of a type.
  ///
  /// - Parameter chosen: the person's unit in HealthKit's notation; `nil` for the default.
  init(_ type: SampleType, in chosen: String? = nil) {
    self.type = type
    let canonical = SampleTypeCatalogue.healthKit[type]?.canonicalUnit
    conversion = chosen.flatMap { chosen in
      // Cumulative metres are shown in kilometres by default, so a choice of metres is a conversion as well.
      canonical.flatMap { chosen == $0 && $0 != "m" ? nil : Conversion(from: $0, to: chosen) }
    }
    let entry = SampleTypeCatalogue.healthKit[type]
    key = Self.key(of: type)
    name = entry?.displayName ?? type.rawValue
    icon = Self.icons[type.shortName]
    let isSleep = type == SleepQuery.type
    guard isSleep || entry?.aggregation != nil || entry == nil else {
      (unit, deviceClass, stateClass, precision, factor) = (nil, nil, nil, nil, 1)
      return
    }
    let isSum = entry?.aggregation == .cumulative
    var shown =
      conversion.map { Self.unit(chosen: $0.to, isSum: isSum) }
      ?? Self.unit(isSleep ? "hr" : canonical, type.shortName, isSum: isSum)
    // One decimal place of a gram would hide amounts that food labels give in milligrams.
    if canonical == "g", conversion == nil, EverydayUnit.of(type) != nil { shown.precision = nil }
    (unit, deviceClass, precision, factor) = (shown.name, shown.deviceClass, shown.precision, shown.factor)
    stateClass = isSum ? .total : .measurement
  }

  /// Returns a number of the record in ``unit``, without rounding to the precision.
  func value(_ number: Double) -> Double {
    let converted = conversion.flatMap { UnitConversion.convert(number, from: $0.from, to: $0.to) }
    return Self.withoutBinaryNoise(converted ?? number * factor)
  }

  /// Returns a number of the record as a sensor's state: counts are whole numbers.
  func state(_ number: Double) -> Double {
    let value = value(number)
    guard stateClass == .total, SampleTypeCatalogue.healthKit[type]?.canonicalUnit == "count" else { return value }
    // A rounding error must not lose a count: 289.99999999999994 is 290 steps.
    return (value + abs(value) * 1e-9).rounded(.down)
  }

  /// The unit class of ``unit`` for statistics (homeassistant.util.unit_conversion, from 2025.11 on), or `nil`.
  var unitClass: String? {
    switch unit {
    case nil, "%": "unitless"
    case "kcal", "kJ": "energy"
    case "km", "m", "cm", "mi", "ft", "in", "yd": "distance"
    case "kg", "g", "lb", "st", "oz", "mg": "mass"
    case "h", "min", "s", "ms": "duration"
    case "°C", "°F": "temperature"
    case "mg/dL", "mmol/L": "blood_glucose_concentration"
    case "L", "mL", "fl. oz.": "volume"
    case "m/s": "speed"
    case "mmHg": "pressure"
    case "W": "power"
    default: nil
    }
  }

  /// Returns the number rounded to twelve significant digits: 28.3 for 28.299999999999997.
  static func withoutBinaryNoise(_ value: Double) -> Double {
    guard value.isFinite, value != 0, abs(value) < 1e9 else { return value }
    let scale = pow(10, 11 - log10(abs(value)).rounded(.down))
    let rounded = (value * scale).rounded() / scale
    return rounded.isFinite && scale.isFinite ? rounded : value
  }

  /// Bytes that the key of a type may have: an entity's name, of which it is a part, may have 255.
  private static let longestKey = 120

  /// Returns the part of an entity's name that tells its type. What has no ASCII letters, or too many, is told by a hash.
  static func key(of type: SampleType) -> String {
    let key = key(type.shortName)
    guard key.utf8.count > longestKey || type.shortName.utf8.contains(where: { $0 >= 0x80 }) else { return key }
    let hash = RadixCoding.hex.encode(SHA256.hash(data: Data(type.rawValue.utf8)).prefix(4))
    return "\(key.prefix(longestKey - 9))_\(hash)"
  }

  /// Returns a name in snake case: `stepCount` as `step_count`. Anything but ASCII letters and digits becomes `_`.
  static func key(_ name: String) -> String {
    var key = ""
    var before: Character = "_"
    for character in name {
      let isPlain = character.isASCII && (character.isLetter || character.isNumber)
      if !isPlain {
        if !key.isEmpty, key.last != "_" { key.append("_") }
      } else {
        if character.isUppercase, before.isLowercase || before.isNumber, !key.isEmpty { key.append("_") }
        key += character.lowercased()
      }
      before = character
    }
    while key.last == "_" { key.removeLast() }
    return key.isEmpty ? "unnamed" : key
  }

  private struct Unit {
    var name: String?
    var deviceClass: String?
    var precision: Int?
    var factor = 1.0
  }

  /// Returns the presentation of a unit.
  ///
  /// - Parameter unit: a canonical unit in HealthKit's notation.
  private static func unit(_ unit: String?, _ name: String, isSum: Bool) -> Unit {
    switch unit {
    case "count": Unit(name: counts[name], precision: 0)
    case "count/min": Unit(name: rates[name] ?? "bpm", precision: 0)
    case "%": Unit(name: "%", precision: 1, factor: 100)
    case "kcal": Unit(name: "kcal", deviceClass: isSum ? "energy" : nil, precision: 0)
    case "m" where isSum: Unit(name: "km", deviceClass: "distance", precision: 2, factor: 0.001)
    case "m": Unit(name: "m", deviceClass: "distance", precision: 2)
    case "cm": Unit(name: "cm", deviceClass: "distance", precision: 1)
    case "m/s": Unit(name: "m/s", deviceClass: isSum ? nil : "speed", precision: 2)
    case "kg": Unit(name: "kg", deviceClass: "weight", precision: 1)
    case "g": Unit(name: "g", deviceClass: "weight", precision: 1)
    case "mL": Unit(name: "mL", deviceClass: isSum ? "volume" : nil, precision: 0)
    case "L": Unit(name: "L", deviceClass: isSum ? "volume" : nil, precision: 2)
    // Home Assistant would convert the class of pressures to inches of mercury in the United States.
    case "mmHg": Unit(name: "mmHg", precision: 0)
    case "mg/dL": Unit(name: "mg/dL", deviceClass: "blood_glucose_concentration", precision: 0)
    case "degC": Unit(name: "°C", deviceClass: isSum ? nil : "temperature", precision: 1)
    case "W": Unit(name: "W", deviceClass: isSum ? nil : "power", precision: 0)
    case "dBASPL": Unit(name: "dB", deviceClass: isSum ? nil : "sound_pressure", precision: 0)
    case "min": Unit(name: "min", deviceClass: "duration", precision: 0)
    case "hr": Unit(name: "h", deviceClass: "duration", precision: 1)
    case "ms": Unit(name: "ms", precision: 0)
    case "kcal/hr·kg": Unit(name: "kcal/(h·kg)", precision: 1)
    case "mL/min·kg": Unit(name: "mL/(min·kg)", precision: 1)
    case "unit", "appleEffortScore", nil: Unit()
    default: Unit(name: unit)
    }
  }

  /// Returns the presentation of a unit that the person chose.
  ///
  /// - Parameter chosen: a unit in HealthKit's notation.
  private static func unit(chosen: String, isSum: Bool) -> Unit {
    switch chosen {
    case "kJ": Unit(name: "kJ", deviceClass: isSum ? "energy" : nil, precision: 0)
    case "km", "m", "cm", "mi", "ft", "in", "yd": Unit(name: chosen, deviceClass: "distance", precision: 2)
    case "kg", "g", "lb", "st", "oz", "mg": Unit(name: chosen, deviceClass: "weight", precision: 1)
    case "degF": Unit(name: "°F", deviceClass: isSum ? nil : "temperature", precision: 1)
    case "fl_oz_us": Unit(name: "fl. oz.", deviceClass: isSum ? "volume" : nil, precision: 1)
    case "L", "mL": Unit(name: chosen, deviceClass: isSum ? "volume" : nil, precision: 2)
    case "hr": Unit(name: "h", deviceClass: "duration", precision: 1)
    case "min", "s": Unit(name: chosen, deviceClass: "duration", precision: 0)
    default:
      switch MolarUnit.short(chosen) {
      case "mmol/L": Unit(name: "mmol/L", deviceClass: "blood_glucose_concentration", precision: 1)
      case let name: Unit(name: name)
      }
    }
  }

  private static let counts = [
    "stepCount": "steps", "flightsClimbed": "floors", "pushCount": "pushes", "swimmingStrokeCount": "strokes",
  ]
  private static let rates = ["respiratoryRate": "breaths/min", "cyclingCadence": "rpm"]
  private static let icons = [
    "stepCount": "mdi:walk", "flightsClimbed": "mdi:stairs-up", "distanceCycling": "mdi:bicycle",
    "activeEnergyBurned": "mdi:fire", "basalEnergyBurned": "mdi:fire-circle", "appleExerciseTime": "mdi:run",
    "appleStandTime": "mdi:human-handsup", "appleMoveTime": "mdi:human-greeting", "heartRate": "mdi:heart-pulse",
    "restingHeartRate": "mdi:heart", "heartRateVariabilitySDNN": "mdi:heart-flash", "oxygenSaturation": "mdi:lungs",
    "respiratoryRate": "mdi:lungs", "bodyFatPercentage": "mdi:percent", "height": "mdi:human-male-height",
    "bloodPressureSystolic": "mdi:heart-plus", "bloodPressureDiastolic": "mdi:heart-minus",
    "sleepAnalysis": "mdi:sleep", "dietaryWater": "mdi:cup-water", "dietaryEnergyConsumed": "mdi:food-apple",
  ]
}

extension RecordReader {
  /// Returns the presentation of a type in the person's unit.
  func entity(of type: SampleType) -> HomeAssistantEntity { HomeAssistantEntity(type, in: units[type]) }
}
