import HealthModel

/// The result of a store's integrity check; see ``HealthStore/checkIntegrity(directory:depth:)``.
public struct StoreIntegrity: Hashable, Sendable {
  /// The findings in the order of the checks. Empty for a sound store.
  public var findings: [StoreFinding]

  /// Creates a result. Used by ``HealthStore/checkIntegrity(directory:depth:)`` and by tests.
  public init(findings: [StoreFinding] = []) {
    self.findings = findings
  }

  /// Whether the check found nothing wrong.
  public var isSound: Bool { findings.isEmpty }
}

/// A fault in a store's content. Each description is one sentence for a person.
public enum StoreFinding: Hashable, Sendable {
  /// Damage that SQLite reports in the file's pages or indexes.
  case damagedPages(String)
  /// A type's sample count that differs from the number of its samples.
  case wrongCount(type: SampleType, kept: Int, counted: Int)
  /// A type's count of samples with derived UUIDs that differs from their number.
  case wrongDerivedCount(type: SampleType, kept: Int, counted: Int)
  /// Changes whose numbers exceed the counter.
  case counterBehind(counter: Int64, newest: Int64)
  /// The number of change numbers that belong to both an addition and a deletion.
  case numbersTakenTwice(Int)
  /// The number of samples that exist although they have a tombstone.
  case aliveAndDeleted(Int)
  /// The number of rows of `table` whose `column` refers to a dictionary row that does not exist.
  case danglingReferences(table: String, column: String, rows: Int)
  /// The number of samples that are hidden although no other sample is shown in their place, or shown beside an
  /// equivalent sample.
  case wrongVisibility(Int)
  /// The number of digests, per type and month, that do not match their samples and tombstones.
  case wrongDigests(Int)
  /// An audit log that is not as it was written.
  case audit(AuditDamage)
}

extension StoreFinding: CustomStringConvertible {
  public var description: String {
    switch self {
    case .damagedPages(let detail): "The file is damaged: \(detail)."
    case .wrongCount(let type, let kept, let counted):
      "The store says that it has \(kept) samples of \(type.shortName), and has \(counted)."
    case .wrongDerivedCount(let type, let kept, let counted):
      "The store says that \(kept) samples of \(type.shortName) came without a UUID, and it has \(counted)."
    case .counterBehind(let counter, let newest):
      "The change counter stands at \(counter), but there is a change with the number \(newest)."
    case .numbersTakenTwice(let count): "Change numbers that were given out twice: \(count)."
    case .aliveAndDeleted(let count): "Samples that are here although they were deleted: \(count)."
    case .danglingReferences(let table, let column, let rows):
      "Rows of '\(table)' whose \(column) does not exist: \(rows)."
    case .wrongVisibility(let count): "Samples that are hidden or shown and should not be: \(count)."
    case .wrongDigests(let count):
      "Digests that are not those of the samples: \(count); `hpeer digest --anew` makes them right."
    case .audit(let damage): "The audit log is not what was written: \(damage)."
    }
  }
}
