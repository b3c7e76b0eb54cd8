import Cryptography
import Foundation
import HealthAnalysis
import HealthModel

/// How Home Assistant shows a type: its name, its unit, and the classes that tell it what the number is
/// (developers.home-assistant.io/docs/core/entity/sensor).
struct HomeAssistantEntity: Hashable, Sendable {
  enum StateClass: String, Sendable {
    /// A reading.
    case measurement
    /// A sum of a day, which says when it began. A correction of one that only increases would be added to it.
    case total
  }

  let type: SampleType
  /// `step_count`: lower-case ASCII letters, digits and `_`.
  let key: String
  let name: String
  /// Home Assistant's; `nil` of a text, and of what has none.
  let unit: String?
  let deviceClass: String?
  /// `nil` of a text.
  let stateClass: StateClass?
  let icon: String?
  /// Decimal places that are shown.
  let precision: Int?
  /// What a value of the record is multiplied by.
  private let factor: Double
  /// The unit of the record, and the person's own, where that is another.
  private let conversion: Conversion?

  private struct Conversion: Hashable, Sendable {
    var from: String
    var to: String
  }

  /// - Parameter chosen: the person's own unit, as HealthKit writes it; `nil` for the usual one.
  init(_ type: SampleType, in chosen: String? = nil) {
    self.type = type
    let canonical = SampleTypeCatalogue.healthKit[type]?.canonicalUnit
    conversion = chosen.flatMap { chosen in
      // Metres that are added up are usually kilometres.
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
    // Of a gram, what labels say in milligrams is nothing.
    if canonical == "g", conversion == nil, EverydayUnit.of(type) != nil { shown.precision = nil }
    (unit, deviceClass, precision, factor) = (shown.name, shown.deviceClass, shown.precision, shown.factor)
    stateClass = isSum ? .total : .measurement
  }

  /// A number of the record in ``unit``, however small.
  func value(_ number: Double) -> Double {
    let converted = conversion.flatMap { UnitConversion.convert(number, from: $0.from, to: $0.to) }
    return Self.withoutBinaryNoise(converted ?? number * factor)
  }

  /// A number of the record as a sensor shows it: what is counted is whole.
  func state(_ number: Double) -> Double {
    let value = value(number)
    guard stateClass == .total, SampleTypeCatalogue.healthKit[type]?.canonicalUnit == "count" else { return value }
    // 289.99999999999994 is 290 steps.
    return (value + abs(value) * 1e-9).rounded(.down)
  }

  /// The class of ``unit`` for statistics (2025.11 and later; homeassistant.util.unit_conversion); `nil` where it has none.
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

  /// To twelve significant digits: 28.3 for 28.299999999999997.
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
    let hash = SHA256.hash(data: Data(type.rawValue.utf8)).prefix(4).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return "\(key.prefix(longestKey - 9))_\(hash.joined())"
  }

  /// `stepCount` as `step_count`; what is no ASCII letter or digit is `_`.
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

  /// - Parameter unit: HealthKit's.
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
    // With the class of pressures, it would be inches of mercury in the United States.
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

  /// - Parameter chosen: HealthKit's, other than the usual one.
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
  /// How a type is shown, in the unit that the person wants it in.
  func entity(of type: SampleType) -> HomeAssistantEntity { HomeAssistantEntity(type, in: units[type]) }
}
