import HealthModel

/// One step of a store's history.
public enum Change: Hashable, Sendable {
  /// A sample has come, and is still there: one that was deleted since appears as its tombstone only.
  case added(Sample)
  /// A sample is gone, perhaps one that whoever reads this never had.
  case deleted(Tombstone)
}

/// Some changes in the order in which they happened, and the anchor that follows them.
public struct ChangePage: Sendable {
  /// At most as many as were asked for, oldest first; none where nothing happened that the filter lets through.
  public var changes: [Change]
  /// The next page begins after it. It may lie after the last of ``changes``: what the filter excludes is passed over.
  public var anchor: Anchor
  /// Covers ``anchor``; kept with it, and given back with it.
  public var epoch: Epoch
  /// Nothing had happened after ``anchor`` when the page was read.
  public var isLast: Bool
}

/// A ``ChangePage`` whose changes are in no order.
public struct CodedChangePage: Sendable {
  /// At most as many as were asked for, samples and tombstones together.
  public var changes: CodedChanges
  /// See ``ChangePage/anchor``.
  public var anchor: Anchor
  /// See ``ChangePage/epoch``.
  public var epoch: Epoch
  /// See ``ChangePage/isLast``.
  public var isLast: Bool
}

/// Changes to apply together. Their order does not matter: a tombstone wins wherever it stands.
public struct ChangeBatch: Sendable {
  /// Those that the store holds already, or that were deleted there, are not added: ``WriteSummary`` counts them.
  public var additions: [Sample]
  /// Of samples that the store does not hold, too: a tombstone keeps them from coming.
  public var deletions: [Tombstone]

  /// Without arguments, an empty batch, which changes nothing.
  public init(additions: [Sample] = [], deletions: [Tombstone] = []) {
    self.additions = additions
    self.deletions = deletions
  }

  public var isEmpty: Bool { additions.isEmpty && deletions.isEmpty }
  /// Samples and tombstones together.
  public var count: Int { additions.count + deletions.count }
}

/// What a write did.
public struct WriteSummary: Equatable, Sendable {
  /// What it did to the samples of one type.
  public struct Counts: Equatable, Sendable, Codable {
    /// Samples that were not here before.
    public var added = 0
    /// Samples that were here and are gone.
    public var deleted = 0
    /// What the store held already, under this identity or another. Of tombstones: what was not here.
    public var unchanged = 0
    /// What was not added because it has been deleted here.
    public var refused = 0

    /// Without arguments, of a write that did nothing.
    public init(added: Int = 0, deleted: Int = 0, unchanged: Int = 0, refused: Int = 0) {
      self.added = added
      self.deleted = deleted
      self.unchanged = unchanged
      self.refused = refused
    }

    /// Adds each of the four numbers.
    public static func += (lhs: inout Self, rhs: Self) {
      lhs.added += rhs.added
      lhs.deleted += rhs.deleted
      lhs.unchanged += rhs.unchanged
      lhs.refused += rhs.refused
    }
  }

  /// Only types to whose samples or tombstones something happened, be it that they were here already.
  public private(set) var types: [SampleType: Counts] = [:]

  /// Of a write that did nothing.
  public init() {}

  /// Of all types together.
  public var total: Counts { types.values.reduce(into: Counts()) { $0 += $1 } }
  /// See ``Counts/added``; of all types together, as the next three.
  public var added: Int { total.added }
  /// See ``Counts/deleted``.
  public var deleted: Int { total.deleted }
  /// See ``Counts/unchanged``.
  public var unchanged: Int { total.unchanged }
  /// See ``Counts/refused``.
  public var refused: Int { total.refused }

  /// Adds what was done to samples of a type to what it has already.
  public mutating func add(_ counts: Counts, of type: SampleType) {
    if counts != Counts() { types[type, default: Counts()] += counts }
  }

  /// Adds what another write did, type by type.
  public static func += (lhs: inout Self, rhs: Self) {
    for (type, counts) in rhs.types { lhs.add(counts, of: type) }
  }
}
