/// A record of an export, as far as it takes to find it in a store that knows its source under another name.
public struct SampledRecord: Hashable, Sendable {
  /// With the name that the source has in the export.
  public var key: SampleKey
  /// The number that it says, a category's without a unit; `nil` where it says none.
  public var value: Quantity?
  /// Whether another record of the export may agree with it in all that identities are made of but the source.
  public var isShared: Bool

  /// A record that is alone with its key, unless `isShared` says otherwise.
  public init(key: SampleKey, value: Quantity? = nil, isShared: Bool = false) {
    self.key = key
    self.value = value
    self.isShared = isShared
  }

  /// Whether a sample that has the same identity but for the source says another number. False where that cannot be
  /// told, because one of them says none or their units do not convert.
  public func contradicts(_ stored: Quantity?) -> Bool {
    guard let value, let stored, !value.isEquivalent(to: stored) else { return false }
    return UnitConversion.convert(stored.value, from: stored.unit, to: value.unit) != nil
  }
}
