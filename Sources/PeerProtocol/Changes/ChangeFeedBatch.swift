import HealthModel

/// Some changes of a feed, and the change token that covers them and all before.
public struct ChangeFeedBatch: Hashable, Sendable {
  public var changes: CodedChanges
  public var token: String
  /// There was more when the batch was read.
  public var more: Bool

  public init(changes: CodedChanges, token: String, more: Bool) {
    self.changes = changes
    self.token = token
    self.more = more
  }
}
