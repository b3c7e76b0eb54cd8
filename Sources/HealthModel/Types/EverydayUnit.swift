/// The unit in which people say how much of something there is: of nutrients that on labels of food, of a way on land kilometres.
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

  /// `mg`, `mcg` or `km`; `nil` for what people say as it is.
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
