/// Conversion between the long and short forms of molar units, whose conversion to mass depends on the substance.
///
/// HealthKit writes them with the molar mass, `mmol<180.1558800000541>/L`; people write `mmol/L`.
///
/// ```swift
/// let glucose = SampleType("HKQuantityTypeIdentifierBloodGlucose")
/// let unit = MolarUnit.long("mmol/L", of: glucose)
/// print(UnitConversion.convert(99.1, from: "mg/dL", to: unit) ?? .nan)  // about 5.5
/// print(MolarUnit.short(unit))                                          // mmol/L
/// ```
public enum MolarUnit {
  /// Molar masses in g/mol: HKUnitMolarMassBloodGlucose and that of cholesterol.
  private static let masses = [
    "HKQuantityTypeIdentifierBloodGlucose": "180.1558800000541",
    "HKQuantityTypeIdentifierDietaryCholesterol": "386.654",
  ]

  /// Returns the unit with the molar mass of the type's substance, or unchanged if it needs none or none is known.
  public static func long(_ unit: String, of type: SampleType) -> String {
    guard let mass = masses[type.rawValue] else { return unit }
    let parts = unit.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard ["mol", "mmol", "µmol", "μmol", "mcmol"].contains(parts[0]) else { return unit }
    return ([parts[0] + "<\(mass)>"] + parts.dropFirst()).joined(separator: "/")
  }

  /// Returns the unit without its molar mass.
  public static func short(_ unit: String) -> String {
    guard let open = unit.firstIndex(of: "<"), let close = unit[open...].firstIndex(of: ">") else { return unit }
    return String(unit[..<open] + unit[unit.index(after: close)...])
  }
}
