import HealthStore

/// How far a pull is.
public struct PullProgress: Hashable, Sendable {
  public var added = 0
  public var deleted = 0
  public var unchanged = 0
  /// Bytes of answers, inside TLS and HTTP.
  public var bytes = 0
  public var requests = 0

  /// Changes that have been committed.
  public var changes: Int { added + deleted + unchanged }

  public init() {}

  mutating func add(_ summary: WriteSummary) {
    added += summary.added
    deleted += summary.deleted
    unchanged += summary.unchanged
  }
}
