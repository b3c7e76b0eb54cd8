/// What a ``CodedSample`` says in columns of its own, as its kind tells.
package enum CodedForm: Hashable, Sendable {
  /// ``CodedSample/number`` and ``CodedSample/unit`` say all of a quantity.
  case quantity
  /// ``CodedSample/number`` says all of a category that has no payload.
  case category
  /// ``CodedSample/payload`` says all.
  case other

  /// - Parameter kind: see ``Payload/kind``.
  package init(kind: String) {
    self =
      switch kind {
      case Quantity.kind: .quantity
      case CategoryValue.kind: .category
      default: .other
      }
  }
}
