import HealthModel

/// A digest of what a store holds, and the position in its changes up to which it holds.
public struct StoreDigest: Hashable, Sendable {
  public var record: RecordDigest
  public var anchor: Anchor
  /// Covers ``anchor``.
  public var epoch: Epoch

  public init(record: RecordDigest, anchor: Anchor, epoch: Epoch) {
    self.record = record
    self.anchor = anchor
    self.epoch = epoch
  }
}
