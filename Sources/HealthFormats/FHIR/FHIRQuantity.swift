import HealthModel

/// The conversion of quantities of one type and one unit to a FHIR `Quantity`.
struct FHIRQuantity {
  /// HealthKit's unit.
  private let source: String
  private let target: String
  private let isPercent: Bool
  /// Whether the resource's `unit` is exactly HealthKit's unit.
  private let isOwnUnit: Bool
  /// The JSON after the value.
  private let end: [UInt8]
  /// Whether the value is in the unit for which the table's codes are meant.
  let fitsCodes: Bool

  /// - Parameters:
  ///   - entry: what the table says of the type.
  ///   - isOfApp: whether the type is an app's own, whose percentages are no fractions.
  init(unit source: String, entry: FHIRMap.Entry?, isOfApp: Bool = false) {
    self.source = source
    var (unit, ucum): (String?, String?)
    if let wanted = entry?.unit, let code = entry?.ucum, UnitConversion.convert(1, from: source, to: wanted) != nil {
      (target, ucum, fitsCodes) = (wanted, code, true)
      // A count for which the table has a real unit, such as a body mass index, shows that unit to people.
      let isBare = wanted == "count" && !code.utf8.contains(UInt8(ascii: "{")) && code != "1"
      unit = isBare ? code : wanted
    } else {
      (target, ucum, fitsCodes) = (source, FHIRUnits.ucum(source), entry?.unit == nil)
      unit = FHIRText.plain(source)
    }
    isPercent = ucum == "%" && !isOfApp
    // What is read back as a percentage becomes a fraction.
    isOwnUnit = (unit.map { $0.isExactly(source) } ?? source.isEmpty) && (isPercent || ucum != "%")
    var bytes: [UInt8] = []
    bytes.append(unit: unit, ucum: ucum)
    end = bytes
  }

  /// Returns a value in the resource's unit. The result is not finite if FHIR cannot express it.
  func value(of value: Double) -> Double {
    let converted = source == target ? value : UnitConversion.convert(value, from: source, to: target) ?? value
    return isPercent ? FHIRUnits.shifted(converted, by: 2) : converted
  }

  /// Returns whether ``read(_:unit:ucum:)`` restores the quantity.
  func isReadBack(_ value: Double, from shown: Double) -> Bool {
    // Not every JSON reader keeps -0.
    guard isOwnUnit, shown.isFinite, source == target, value != 0 || value.sign == .plus else { return false }
    return (isPercent ? FHIRUnits.shifted(shown, by: -2) : shown) == value
  }

  /// Returns HealthKit's quantity from the members of a resource.
  static func read(_ value: Double, unit: String, ucum: String?) -> Quantity {
    Quantity(ucum == "%" ? FHIRUnits.shifted(value, by: -2) : value, unit)
  }

  /// Appends `"valueQuantity":{…}`, or the reason why there is no number.
  ///
  /// - Parameter shown: the result of ``value(of:)``.
  func append(_ shown: Double, to bytes: inout [UInt8]) {
    guard shown.isFinite else {
      bytes.append("\"dataAbsentReason\":")
      return bytes.append(absenceOf: shown)
    }
    bytes.append("\"valueQuantity\":{\"value\":")
    bytes.append(number: shown)
    bytes.append(contentsOf: end)
  }

  /// Appends a quantity in HealthKit's unit as the value of a component.
  static func append(_ quantity: Quantity, entry: FHIRMap.Entry?, to bytes: inout [UInt8]) {
    let form = FHIRQuantity(unit: quantity.unit, entry: entry)
    form.append(form.value(of: quantity.value), to: &bytes)
  }
}
