extension Sample {
  /// Whether `other`, which has the same identity, says the same as this sample: equal values within the precision of
  /// an export, whatever unit they are printed in. Metadata and device are not compared.
  public func isEquivalent(to other: Sample) -> Bool {
    switch (payload, other.payload) {
    case (.quantity(let mine), .quantity(let theirs)): mine.isEquivalent(to: theirs)
    default: payload.measured == other.payload.measured
    }
  }

  /// The text that ranks records with equal keys: the value in the canonical unit, rounded to five significant digits.
  ///
  /// The rank must be the same for any display unit, so fewer digits are compared than Apple prints.
  public var canonicalValue: String {
    switch payload {
    case .quantity(let quantity):
      let unit = SampleTypeCatalogue.healthKit[type]?.canonicalUnit ?? quantity.unit
      let value = UnitConversion.convert(quantity.value, from: quantity.unit, to: unit) ?? quantity.value
      return DecimalText.rounded(value, digits: 5)
    default:
      return payload.content?.canonicalValue ?? ""
    }
  }
}

extension Payload {
  /// See ``SamplePayload/measured``.
  package var measured: Payload { content?.measured.payload ?? self }
}
