/// A position in a store's sequence of changes: everything up to and including this number has been seen.
public struct Anchor: Hashable, Sendable, Comparable {
  public var change: Int64

  public init(change: Int64) {
    self.change = change
  }

  /// Before the first change.
  public static let zero = Anchor(change: 0)

  public static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.change < rhs.change
  }
}
