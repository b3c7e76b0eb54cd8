extension Sample {
  /// Returns whether `other`, a sample with the same identity, has an equal value within the precision of an export,
  /// in whatever unit. Metadata and device are not compared.
  public func isEquivalent(to other: Sample) -> Bool {
    switch (payload, other.payload) {
    case (.quantity(let mine), .quantity(let theirs)): mine.isEquivalent(to: theirs)
    default: payload.measured == other.payload.measured
    }
  }

  /// The text by which records with equal keys are ranked: the value in the canonical unit, rounded to five digits.
  ///
  /// The rank must not depend on the display unit, so fewer digits are compared than Apple prints.
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
