import HealthModel

/// What a check of a store found; see ``HealthStore/checkIntegrity(directory:)``.
public struct StoreIntegrity: Hashable, Sendable {
  /// In the order of the checks; empty for a sound store.
  public var findings: [StoreFinding]

  /// Made by ``HealthStore/checkIntegrity(directory:)``, and by tests.
  public init(findings: [StoreFinding] = []) {
    self.findings = findings
  }

  /// Whether nothing was found.
  public var isSound: Bool { findings.isEmpty }
}

/// Something in a store that is not as hpeer writes it. Each description is one sentence for a person.
public enum StoreFinding: Hashable, Sendable {
  /// What SQLite says of the file's pages and indexes.
  case damagedPages(String)
  /// The count that is kept with a type is not the number of its samples.
  case wrongCount(type: SampleType, kept: Int, counted: Int)
  /// The count of samples with derived UUIDs that is kept with a type is not their number.
  case wrongDerivedCount(type: SampleType, kept: Int, counted: Int)
  /// There are changes with numbers that the counter has not given out yet.
  case counterBehind(counter: Int64, newest: Int64)
  /// Numbers that both an addition and a deletion have.
  case numbersTakenTwice(Int)
  /// Samples that are here although they have a tombstone.
  case aliveAndDeleted(Int)
  /// Rows of `table` whose `column` names a dictionary row that does not exist.
  case danglingReferences(table: String, column: String, rows: Int)
  /// Samples that are hidden although nothing is shown in their place, or shown beside one that says the same.
  case wrongVisibility(Int)
  /// Types and months whose kept digest is not that of their samples and tombstones.
  case wrongDigests(Int)
  /// The audit log is not what was written.
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
