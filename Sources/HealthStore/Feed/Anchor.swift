/// A position in a store's sequence of changes: everything up to and including this number has been seen.
public struct Anchor: Hashable, Sendable, Comparable {
  /// A number of the store's counter, from 1; 0 before the first change.
  public var change: Int64

  /// Any number is taken. One that is no position of a store is for that store to refuse, with
  /// ``StoreError/anchorOutOfRange``.
  public init(change: Int64) {
    self.change = change
  }

  /// Before the first change.
  public static let zero = Anchor(change: 0)

  public static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.change < rhs.change
  }
}
