import HealthModel

/// A difference between two records, in one type and month.
public struct DigestDifference: Hashable, Sendable {
  /// An aspect in which two months differ.
  public enum Aspect: String, Hashable, Sendable, CaseIterable {
    /// A record has samples that the other lacks.
    case samples
    /// A record has deletions that the other lacks.
    case tombstones
    /// The sample identities are equal, but the contents of some samples differ.
    case contents
  }

  /// The type that differs.
  public var type: SampleType
  /// The month in which the samples start.
  public var month: CalendarMonth
  /// The digest of this store; empty if it has no samples of the type and month.
  public var here: MonthDigest
  /// The digest of the peer; empty if it has no samples of the type and month.
  public var there: MonthDigest
  /// The aspects that differ, in the order of ``Aspect``; never empty.
  public var aspects: [Aspect]
}

/// A comparison of two digests with the same filter.
enum DigestComparison {
  private struct Key: Hashable {
    /// The identifier's UTF-8. Types are compared by bytes: two Unicode spellings are two types.
    var type: [UInt8]
    var month: CalendarMonth
  }

  /// Returns the differences, ordered by type and month.
  ///
  /// - Parameter months: the months to compare; `nil` for all.
  static func differences(
    _ here: RecordDigest, _ there: RecordDigest, within months: ClosedRange<CalendarMonth>? = nil
  ) -> [DigestDifference] {
    let (mine, theirs) = (byKey(here), byKey(there))
    let types = (here.types + there.types).map(\.type)
    let names = Dictionary(types.map { (Array($0.rawValue.utf8), $0) }) { first, _ in first }
    return Set(mine.keys).union(theirs.keys).compactMap { key -> DigestDifference? in
      guard let type = names[key.type], months?.contains(key.month) ?? true else { return nil }
      let empty = MonthDigest(month: key.month, samples: .empty, tombstones: .empty)
      let (one, other) = (mine[key] ?? empty, theirs[key] ?? empty)
      let aspects = aspects(one, other)
      guard !aspects.isEmpty else { return nil }
      return DigestDifference(type: type, month: key.month, here: one, there: other, aspects: aspects)
    }.inOrder
  }

  private static func byKey(_ digest: RecordDigest) -> [Key: MonthDigest] {
    Dictionary(
      digest.types.flatMap { type in
        type.months.map { (Key(type: Array(type.type.rawValue.utf8), month: $0.month), $0) }
      }
    ) { first, _ in first }
  }

  private static func aspects(_ here: MonthDigest, _ there: MonthDigest) -> [DigestDifference.Aspect] {
    var aspects: [DigestDifference.Aspect] = []
    if here.samples != there.samples { aspects.append(.samples) }
    if here.tombstones != there.tombstones { aspects.append(.tombstones) }
    // If the samples differ, their contents differ anyway.
    if here.samples == there.samples, let mine = here.contents, let theirs = there.contents, mine != theirs {
      aspects.append(.contents)
    }
    return aspects
  }
}

extension [DigestDifference] {
  /// The differences ordered by type and month.
  var inOrder: Self {
    sorted {
      if $0.type.rawValue.utf8.elementsEqual($1.type.rawValue.utf8) { return $0.month < $1.month }
      return SampleType.utf8Order($0.type, $1.type)
    }
  }
}
