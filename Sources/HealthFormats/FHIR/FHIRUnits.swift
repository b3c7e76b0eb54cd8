import HealthModel

/// The UCUM codes (https://ucum.org) of HealthKit's units, for values without a unit in the table of codes.
enum FHIRUnits {
  /// Returns the UCUM code of a HealthKit unit, or `nil` if none is known.
  static func ucum(_ unit: String) -> String? {
    // Drops the molar mass from HealthKit's molar units. It follows from the substance that the code names.
    if let open = unit.firstIndex(of: "<"), let close = unit.firstIndex(of: ">"), open < close {
      return table[String(unit[..<open] + unit[unit.index(after: close)...])]
    }
    return table[unit]
  }

  private static let table: [String: String] = [
    "count": "1", "%": "%", "count/min": "/min", "count/s": "/s", "m": "m", "km": "km", "cm": "cm", "mm": "mm",
    "in": "[in_i]", "ft": "[ft_i]", "yd": "[yd_i]", "mi": "[mi_i]", "g": "g", "kg": "kg", "mg": "mg", "mcg": "ug",
    "µg": "ug", "oz": "[oz_av]", "lb": "[lb_av]", "st": "[stone_av]", "s": "s", "ms": "ms", "min": "min", "hr": "h",
    "d": "d", "J": "J", "kJ": "kJ", "cal": "cal", "kcal": "kcal", "Cal": "kcal", "L": "L", "mL": "mL", "dL": "dL",
    "fl_oz_us": "[foz_us]", "fl_oz_imp": "[foz_br]", "cup_us": "[cup_us]", "pt_us": "[pt_us]", "pt_imp": "[pt_br]",
    "Pa": "Pa", "hPa": "hPa", "kPa": "kPa", "mmHg": "mm[Hg]", "inHg": "[in_i'Hg]", "cmAq": "cm[H2O]", "atm": "atm",
    "S": "S", "mcS": "uS", "µS": "uS", "W": "W", "kW": "kW", "V": "V", "mV": "mV", "mcV": "uV", "µV": "uV",
    "IU": "[iU]", "dBASPL": "dB[SPL]", "dBHL": "dB", "Hz": "Hz", "kHz": "kHz", "K": "K", "degC": "Cel",
    "degF": "[degF]", "m/s": "m/s", "km/hr": "km/h", "mi/hr": "[mi_i]/h", "ft/s": "[ft_i]/s", "mg/dL": "mg/dL",
    "mmol/L": "mmol/L", "L/min": "L/min", "mL/min·kg": "mL/min/kg", "kcal/hr·kg": "kcal/kg/h", "D": "[diop]",
    "pD": "[p'diop]", "deg": "deg", "appleEffortScore": "{score}",
  ]

  /// Returns whether a text may be a UCUM code: no spaces, and balanced brackets.
  static func isPlausible(_ ucum: String) -> Bool {
    var open: [UInt8] = []
    for byte in ucum.utf8 {
      guard byte > 0x20, byte < 0x7F else { return false }
      switch byte {
      case UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "("): open.append(byte)
      case UInt8(ascii: "]"): guard open.popLast() == UInt8(ascii: "[") else { return false }
      case UInt8(ascii: "}"): guard open.popLast() == UInt8(ascii: "{") else { return false }
      case UInt8(ascii: ")"): guard open.popLast() == UInt8(ascii: "(") else { return false }
      default: break
      }
    }
    return open.isEmpty && !ucum.isEmpty && ucum.utf8.count <= 100
  }

  /// Returns `value` with its decimal point moved to the right, without the rounding error of a multiplication.
  static func shifted(_ value: Double, by places: Int) -> Double {
    guard value.isFinite else { return value }
    let parts = value.description.split(separator: "e")
    guard let digits = parts.first, let exponent = parts.count > 1 ? Int(parts[1]) : 0 else { return value }
    return Double("\(digits)e\(exponent + places)") ?? value
  }
}
