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

  public static func += (lhs: inout Self, rhs: Self) {
    lhs.added += rhs.added
    lhs.deleted += rhs.deleted
    lhs.unchanged += rhs.unchanged
    lhs.bytes += rhs.bytes
    lhs.requests += rhs.requests
  }
}
