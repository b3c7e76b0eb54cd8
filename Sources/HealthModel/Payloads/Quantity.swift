/// A number in a unit (`HKQuantity`).
public struct Quantity: Hashable, Sendable {
  /// The number, which may be infinite or NaN (all NaNs are the same value). A store keeps -0 as 0.
  public var value: Double
  /// HealthKit's unit string, unchanged: `count/min`, `kcal`, `mL/min·kg`. Percentages are fractions with the unit
  /// `%`.
  public var unit: String

  /// Creates a quantity, `Quantity(72, "count/min")`. The unit is not validated.
  public init(_ value: Double, _ unit: String) {
    self.value = value
    self.unit = unit
  }
}

extension Quantity: Codable {
  private enum Key: String, CodingKey { case value, unit }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    value = try object.decodeNumber(forKey: .value)
    unit = try object.decode(String.self, forKey: .unit)
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encodeNumber(value, forKey: .value)
    try object.encode(unit, forKey: .unit)
  }
}

extension Quantity: SamplePayload {
  package static let kind = "quantity"
  package static let isOpen = false
  package var payload: Payload { .quantity(self) }

  package init(coded: CodedPayload) { self.init(coded.number ?? .nan, coded.unit ?? "") }

  package func coded() -> CodedPayload { CodedPayload(number: value.isNaN ? nil : value, unit: unit) }

  package func write(to form: inout CanonicalForm) {
    form.object { form in
      form.member("unit", unit)
      form.member("value", value)
    }
  }

  /// The number is compared instead; see ``Sample/canonicalValue``.
  package var rankDetail: RankDetail { .nothing }
}
