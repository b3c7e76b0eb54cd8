/// The units that people use in everyday life: milligrams and micrograms as on food labels, kilometres for distances
/// on land.
///
/// ```swift
/// print(EverydayUnit.of(SampleType("HKQuantityTypeIdentifierDietaryIron")) ?? "")  // mg
/// ```
public enum EverydayUnit {
  private static let milligrams: Set = [
    "Cholesterol", "Sodium", "Calcium", "Iron", "Potassium", "VitaminB6", "VitaminC", "VitaminE", "Thiamin",
    "Riboflavin", "Niacin", "PantothenicAcid", "Magnesium", "Zinc", "Copper", "Manganese", "Chloride", "Caffeine",
    "Phosphorus",
  ]
  private static let micrograms: Set = [
    "VitaminA", "VitaminB12", "VitaminD", "VitaminK", "Biotin", "Folate", "Iodine", "Selenium", "Chromium",
    "Molybdenum",
  ]

  /// Returns `mg`, `mcg` or `km`, or `nil` for types whose usual unit is the canonical unit.
  public static func of(_ type: SampleType) -> String? {
    if let name = name(of: type, after: "Dietary") {
      return milligrams.contains(name) ? "mg" : micrograms.contains(name) ? "mcg" : nil
    }
    // Swimmers count metres.
    return name(of: type, after: "Distance").flatMap { $0 == "Swimming" ? nil : "km" }
  }

  private static func name(of type: SampleType, after word: String) -> String? {
    let prefix = "HKQuantityTypeIdentifier" + word
    return type.rawValue.hasPrefix(prefix) ? String(type.rawValue.dropFirst(prefix.count)) : nil
  }
}
