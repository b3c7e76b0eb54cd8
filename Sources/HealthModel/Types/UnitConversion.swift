import Foundation

/// Conversion between HealthKit unit strings.
///
/// Supports simple units, `a/b` and `·` products (`mL/min·kg`: everything after the slash divides), and HealthKit's
/// molar units (`mmol<180.1558800000541>/L`, where the brackets contain the molar mass in g/mol).
///
/// ```swift
/// print(UnitConversion.convert(72, from: "degF", to: "degC") ?? .nan)                         // about 22.2
/// print(UnitConversion.convert(5.5, from: "mmol<180.1558800000541>/L", to: "mg/dL") ?? .nan)  // about 99.1
/// print(UnitConversion.convert(1, from: "kg", to: "m") == nil)                                // true
/// ```
public enum UnitConversion {
  /// Returns `value` converted to `target`, or `nil` if a unit is unknown or the units measure different things.
  public static func convert(_ value: Double, from unit: String, to target: String) -> Double? {
    if unit == target { return value }
    if let from = table[unit], let to = table[target] {
      return from.1 == to.1 ? value * from.0 / to.0 : nil
    }
    if let from = temperature(unit), let to = temperature(target) {
      return (value * from.scale + from.offset - to.offset) / to.scale
    }
    guard let from = parse(unit), let to = parse(target), from.dimension == to.dimension else { return nil }
    return value * from.scale / to.scale
  }

  private struct Parsed {
    var scale = 1.0
    var dimension: [String: Int] = [:]
  }

  private static func parse(_ unit: String) -> Parsed? {
    var result = Parsed()
    var sign = 1
    for (index, part) in unit.split(separator: "/", omittingEmptySubsequences: false).enumerated() {
      if index > 0 { sign = -1 }
      for factor in factors(of: part) {
        if factor == "Hz" {
          result.dimension["time", default: 0] -= sign
          continue
        }
        guard let (scale, dimension) = simple(factor) else { return nil }
        result.scale *= sign > 0 ? scale : 1 / scale
        // A count is dimensionless: 60 count/min is 1 Hz.
        if dimension != "count" { result.dimension[dimension, default: 0] += sign }
      }
    }
    result.dimension = result.dimension.filter { $0.value != 0 }
    return result
  }

  /// Returns the factors of a product. A point inside a molar mass (`mmol<180.15>`) does not separate factors.
  private static func factors(of product: Substring) -> [String] {
    var isInBracket = false
    return product.split { character in
      if character == "<" || character == ">" { isInBracket = character == "<" }
      return !isInBracket && (character == "·" || character == "*" || character == ".")
    }.map(String.init)
  }

  private static func simple(_ unit: String) -> (scale: Double, dimension: String)? {
    var unit = unit
    if unit.unicodeScalars.contains(greekMu) {
      unit = String(String.UnicodeScalarView(unit.unicodeScalars.map { $0 == greekMu ? micro : $0 }))
    }
    if let known = table[unit] { return known }
    if unit.hasSuffix(">"), let open = unit.firstIndex(of: "<"),
      let grams = Double(unit[unit.index(after: open)...].dropLast()), let prefix = molar[String(unit[..<open])]
    {
      return (prefix * grams, "mass")
    }
    return nil
  }

  private static func temperature(_ unit: String) -> (scale: Double, offset: Double)? {
    switch unit {
    case "K": (1, 0)
    case "degC": (1, 273.15)
    case "degF": (5.0 / 9, 459.67 * 5 / 9)
    default: nil
    }
  }

  /// The Greek letter mu, which some programs write instead of the micro sign.
  private static let greekMu: Unicode.Scalar = "\u{3BC}"
  private static let micro: Unicode.Scalar = "\u{B5}"

  private static let molar = ["mol": 1.0, "mmol": 1e-3, "µmol": 1e-6, "mcmol": 1e-6]

  /// The units by name, as a factor and a dimension. Base units: metre, gram, second, joule, litre, pascal, siemens,
  /// watt, volt.
  private static let table: [String: (Double, String)] = [
    "count": (1, "count"), "%": (1, "count"),
    "m": (1, "length"), "km": (1000, "length"), "cm": (0.01, "length"), "mm": (0.001, "length"),
    "in": (0.0254, "length"), "ft": (0.3048, "length"), "yd": (0.9144, "length"), "mi": (1609.344, "length"),
    "g": (1, "mass"), "kg": (1000, "mass"), "mg": (1e-3, "mass"), "mcg": (1e-6, "mass"), "µg": (1e-6, "mass"),
    "oz": (28.349523125, "mass"), "lb": (453.59237, "mass"), "st": (6350.29318, "mass"),
    "s": (1, "time"), "ms": (1e-3, "time"), "min": (60, "time"), "hr": (3600, "time"), "d": (86_400, "time"),
    "J": (1, "energy"), "kJ": (1000, "energy"), "cal": (4.184, "energy"), "kcal": (4184, "energy"),
    "Cal": (4184, "energy"),
    "L": (1, "volume"), "mL": (1e-3, "volume"), "dL": (0.1, "volume"), "fl_oz_us": (0.0295735295625, "volume"),
    "fl_oz_imp": (0.0284130625, "volume"), "cup_us": (0.2365882365, "volume"), "cup_imp": (0.284130625, "volume"),
    "pt_us": (0.473176473, "volume"), "pt_imp": (0.56826125, "volume"),
    "Pa": (1, "pressure"), "hPa": (100, "pressure"), "kPa": (1000, "pressure"), "mmHg": (133.322387415, "pressure"),
    "inHg": (3386.388640341, "pressure"), "cmAq": (98.0665, "pressure"), "atm": (101_325, "pressure"),
    "S": (1, "conductance"), "mcS": (1e-6, "conductance"), "µS": (1e-6, "conductance"),
    "W": (1, "power"), "kW": (1000, "power"), "V": (1, "potential"), "mV": (1e-3, "potential"),
    "mcV": (1e-6, "potential"), "µV": (1e-6, "potential"), "IU": (1, "IU"), "dBASPL": (1, "dBASPL"),
  ]
}

extension Quantity {
  /// Returns whether two quantities are equal within a relative error of `1e-5` after unit conversion. Apple prints
  /// six digits in the display unit of the day.
  public func isEquivalent(to other: Quantity) -> Bool {
    if value == other.value && unit == other.unit || value.isNaN && other.value.isNaN { return true }
    guard let converted = UnitConversion.convert(other.value, from: other.unit, to: unit) else { return false }
    return abs(value - converted) <= 1e-5 * max(abs(value), abs(converted))
  }
}
