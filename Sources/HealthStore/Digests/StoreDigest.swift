import HealthModel

/// A digest of what a store holds, and the position in its changes up to which it holds.
public struct StoreDigest: Hashable, Sendable {
  /// Equal for two stores that hold the same.
  public var record: RecordDigest
  /// All changes up to here are in the digest, and none after.
  public var anchor: Anchor
  /// Covers ``anchor``.
  public var epoch: Epoch

  /// - Parameter epoch: must cover `anchor`; not checked.
  public init(record: RecordDigest, anchor: Anchor, epoch: Epoch) {
    self.record = record
    self.anchor = anchor
    self.epoch = epoch
  }
}
