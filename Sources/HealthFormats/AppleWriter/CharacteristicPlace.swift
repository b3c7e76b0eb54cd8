import HealthModel

/// Where something stood in an export that an import has kept as a characteristic, because no sample could keep it:
/// `HealthData/@name` is an attribute, `Me/Name#2` the second element of its name.
struct CharacteristicPlace {
  var element: String
  var name: String
  var isAttribute: Bool
  /// Among elements of its name, from 1.
  var number = 1

  /// `nil` for a type that is a characteristic of the person's.
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

  /// Attributes come before elements.
  static func precedes(_ left: CharacteristicPlace, _ right: CharacteristicPlace) -> Bool {
    if left.isAttribute != right.isAttribute { return left.isAttribute }
    return (left.name, left.number) < (right.name, right.number)
  }

  /// Whether XML can say it there.
  func isPrintable(_ value: String) -> Bool {
    switch element {
    case "HealthData": isAttribute && name != "locale" && XMLOutput.isName(name)
    case "ExportDate" where isAttribute: name != "value" && XMLOutput.isName(name)
    case "ExportDate", "Me": !isAttribute && ForeignElement(value) != nil
    default: false
    }
  }
}
