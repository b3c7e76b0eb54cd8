import HealthModel

/// The place of an unknown attribute or element that an import kept as a characteristic: `HealthData/@name` is an
/// attribute, `Me/Name#2` the second element with its name.
struct CharacteristicPlace {
  var element: String
  var name: String
  var isAttribute: Bool
  /// The number among elements with this name, from 1.
  var number = 1

  /// Parses a characteristic's type. Fails for a type that is a real characteristic of the person.
  init?(_ type: SampleType) {
    let parts = type.rawValue.parts(separatedBy: "/", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    element = String(parts[0])
    isAttribute = parts[1].hasPrefix("@")
    let path = isAttribute ? parts[1].dropFirst() : parts[1]
    let mark = path.lastIndex(of: "#") ?? path.endIndex
    name = String(path[..<mark])
    number = Int(path[mark...].dropFirst()) ?? 1
  }

  /// Returns whether `left` comes before `right`. Attributes come before elements.
  static func precedes(_ left: CharacteristicPlace, _ right: CharacteristicPlace) -> Bool {
    if left.isAttribute != right.isAttribute { return left.isAttribute }
    return (left.name, left.number) < (right.name, right.number)
  }

  /// Returns whether the value can be written at this place.
  func isPrintable(_ value: String) -> Bool {
    switch element {
    case "HealthData": isAttribute && name != "locale" && XMLOutput.isName(name)
    case "ExportDate" where isAttribute: name != "value" && XMLOutput.isName(name)
    case "ExportDate", "Me": !isAttribute && ForeignElement(value) != nil
    default: false
    }
  }
}
