import HealthModel

/// One step of a store's history.
public enum Change: Hashable, Sendable {
  case added(Sample)
  case deleted(Tombstone)
}

/// Some changes in the order in which they happened, and the anchor that follows them.
public struct ChangePage: Sendable {
  public var changes: [Change]
  public var anchor: Anchor
  /// Covers ``anchor``; kept with it, and given back with it.
  public var epoch: Epoch
  /// Nothing had happened after ``anchor`` when the page was read.
  public var isLast: Bool
}

/// A ``ChangePage`` whose changes are in no order.
public struct CodedChangePage: Sendable {
  public var changes: CodedChanges
  public var anchor: Anchor
  /// See ``ChangePage/epoch``.
  public var epoch: Epoch
  public var isLast: Bool
}

/// Changes to apply together. Their order does not matter: a tombstone wins wherever it stands.
public struct ChangeBatch: Sendable {
  public var additions: [Sample]
  public var deletions: [Tombstone]

  public init(additions: [Sample] = [], deletions: [Tombstone] = []) {
    self.additions = additions
    self.deletions = deletions
  }

  public var isEmpty: Bool { additions.isEmpty && deletions.isEmpty }
  public var count: Int { additions.count + deletions.count }
}

/// What a write did.
public struct WriteSummary: Equatable, Sendable {
  /// What it did to the samples of one type.
  public struct Counts: Equatable, Sendable, Codable {
    public var added = 0
    /// Samples that were here and are gone.
    public var deleted = 0
    /// What the store held already, under this identity or another. Of tombstones: what was not here.
    public var unchanged = 0
    /// What was not added because it has been deleted here.
    public var refused = 0

    public init(added: Int = 0, deleted: Int = 0, unchanged: Int = 0, refused: Int = 0) {
      self.added = added
      self.deleted = deleted
      self.unchanged = unchanged
      self.refused = refused
    }

    public static func += (lhs: inout Self, rhs: Self) {
      lhs.added += rhs.added
      lhs.deleted += rhs.deleted
      lhs.unchanged += rhs.unchanged
      lhs.refused += rhs.refused
    }
  }

  public private(set) var types: [SampleType: Counts] = [:]

  public init() {}

  /// Of all types together.
  public var total: Counts { types.values.reduce(into: Counts()) { $0 += $1 } }
  public var added: Int { total.added }
  public var deleted: Int { total.deleted }
  public var unchanged: Int { total.unchanged }
  public var refused: Int { total.refused }

  public mutating func add(_ counts: Counts, of type: SampleType) {
    if counts != Counts() { types[type, default: Counts()] += counts }
  }

  public static func += (lhs: inout Self, rhs: Self) {
    for (type, counts) in rhs.types { lhs.add(counts, of: type) }
  }
}
