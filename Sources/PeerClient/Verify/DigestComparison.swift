import HealthModel

/// One type and month in which two records differ.
public struct DigestDifference: Hashable, Sendable {
  /// What of two months is not the same.
  public enum Aspect: String, Hashable, Sendable, CaseIterable {
    /// One has samples that the other lacks.
    case samples
    /// One has deletions that the other lacks.
    case tombstones
    /// Both have the same samples by identity, and some of them say something else.
    case contents
  }

  /// The type that differs.
  public var type: SampleType
  /// The month in which the samples start.
  public var month: CalendarMonth
  /// Empty where this store holds nothing of it.
  public var here: MonthDigest
  /// Empty where the peer holds nothing of it.
  public var there: MonthDigest
  /// Never empty; in the order of ``Aspect``.
  public var aspects: [Aspect]
}

/// Compares two digests of the same filter.
enum DigestComparison {
  private struct Key: Hashable {
    /// The identifier's UTF-8, compared by bytes: two Unicode spellings are two types.
    var type: [UInt8]
    var month: CalendarMonth
  }

  /// By type and month.
  ///
  /// - Parameter months: only these; `nil` for all.
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
    // Of other samples the contents are others anyway.
    if here.samples == there.samples, let mine = here.contents, let theirs = there.contents, mine != theirs {
      aspects.append(.contents)
    }
    return aspects
  }
}

extension [DigestDifference] {
  /// By type and month.
  var inOrder: Self {
    sorted {
      if $0.type.rawValue.utf8.elementsEqual($1.type.rawValue.utf8) { return $0.month < $1.month }
      return SampleType.utf8Order($0.type, $1.type)
    }
  }
}
