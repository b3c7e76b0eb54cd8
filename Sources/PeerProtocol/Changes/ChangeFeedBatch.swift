import HealthModel

/// Some changes of a feed, and the change token that covers them and all before.
public struct ChangeFeedBatch: Hashable, Sendable {
  /// May be empty in the last batch of an answer.
  public var changes: CodedChanges
  /// A sealed ``ChangeToken``, opaque to the client: save it together with the changes, in one transaction.
  public var token: String
  /// There was more when the batch was read.
  public var more: Bool

  /// - Parameter token: as ``ChangeTokenSeal/text(of:)`` makes it.
  public init(changes: CodedChanges, token: String, more: Bool) {
    self.changes = changes
    self.token = token
    self.more = more
  }
}
