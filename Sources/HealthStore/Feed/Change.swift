import HealthModel

/// A change in a store's history.
public enum Change: Hashable, Sendable {
  /// A sample that was added and still exists. A sample that was deleted since appears only as its tombstone.
  case added(Sample)
  /// A deleted sample. The reader may never have received that sample.
  case deleted(Tombstone)
}

/// A page of changes in the order in which they happened, and the anchor after them.
public struct ChangePage: Sendable {
  /// The changes, oldest first, at most as many as requested. Empty if no change matches the filter.
  public var changes: [Change]
  /// The position after which the next page begins. It may lie after the last of ``changes``, because changes that
  /// the filter excludes are skipped.
  public var anchor: Anchor
  /// The epoch that covers ``anchor``. Save both, and pass both back.
  public var epoch: Epoch
  /// Whether there were no changes after ``anchor`` when the page was read.
  public var isLast: Bool
}

/// A ``ChangePage`` in coded form, without the order of its changes.
public struct CodedChangePage: Sendable {
  /// The samples and tombstones, together at most as many as requested.
  public var changes: CodedChanges
  /// The position after which the next page begins; see ``ChangePage/anchor``.
  public var anchor: Anchor
  /// The epoch that covers ``anchor``; see ``ChangePage/epoch``.
  public var epoch: Epoch
  /// Whether there were no changes after ``anchor``; see ``ChangePage/isLast``.
  public var isLast: Bool
}

/// Samples and tombstones to apply together. Their order does not matter, because a tombstone always wins.
public struct ChangeBatch: Sendable {
  /// The samples to add. Samples that the store already holds or has deleted are not added: ``WriteSummary`` counts
  /// them.
  public var additions: [Sample]
  /// The tombstones to apply. A tombstone for a sample that the store does not hold prevents its addition later.
  public var deletions: [Tombstone]

  /// Creates a batch. Without arguments, the batch is empty and changes nothing.
  public init(additions: [Sample] = [], deletions: [Tombstone] = []) {
    self.additions = additions
    self.deletions = deletions
  }

  public var isEmpty: Bool { additions.isEmpty && deletions.isEmpty }
  /// The number of samples and tombstones together.
  public var count: Int { additions.count + deletions.count }
}

/// The number of samples that a write added, deleted, left unchanged or refused, by type.
public struct WriteSummary: Equatable, Sendable {
  /// The counts for one sample type.
  public struct Counts: Equatable, Sendable, Codable {
    /// The number of samples that were added.
    public var added = 0
    /// The number of samples that were deleted.
    public var deleted = 0
    /// The number of samples that the store held already, under the same identity or another, and of tombstones for
    /// samples that were not here.
    public var unchanged = 0
    /// The number of samples that were refused because they were deleted here.
    public var refused = 0

    /// Creates counts. Without arguments, all are 0.
    public init(added: Int = 0, deleted: Int = 0, unchanged: Int = 0, refused: Int = 0) {
      self.added = added
      self.deleted = deleted
      self.unchanged = unchanged
      self.refused = refused
    }

    /// Adds each of the four counts.
    public static func += (lhs: inout Self, rhs: Self) {
      lhs.added += rhs.added
      lhs.deleted += rhs.deleted
      lhs.unchanged += rhs.unchanged
      lhs.refused += rhs.refused
    }
  }

  /// The counts by type. Only types that the write concerned are present, even if all their samples were here
  /// already.
  public private(set) var types: [SampleType: Counts] = [:]

  /// Creates an empty summary.
  public init() {}

  /// The sum over all types.
  public var total: Counts { types.values.reduce(into: Counts()) { $0 += $1 } }
  /// The sum of ``Counts/added`` over all types.
  public var added: Int { total.added }
  /// The sum of ``Counts/deleted`` over all types.
  public var deleted: Int { total.deleted }
  /// The sum of ``Counts/unchanged`` over all types.
  public var unchanged: Int { total.unchanged }
  /// The sum of ``Counts/refused`` over all types.
  public var refused: Int { total.refused }

  /// Adds counts to those of a type.
  public mutating func add(_ counts: Counts, of type: SampleType) {
    if counts != Counts() { types[type, default: Counts()] += counts }
  }

  /// Adds the counts of another write, type by type.
  public static func += (lhs: inout Self, rhs: Self) {
    for (type, counts) in rhs.types { lhs.add(counts, of: type) }
  }
}
