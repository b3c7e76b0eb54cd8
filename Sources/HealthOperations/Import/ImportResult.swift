import HealthFormats
import HealthModel
import HealthStore

/// The outcome of an import.
public struct ImportResult: Sendable {
  /// The content of the file, or of all exports that were read. Empty if ``earlier`` is set.
  public var report = ImportReport()
  /// The changes in the store, in total for several exports.
  public var summary = WriteSummary()
  /// The number of samples read, by type.
  public var read: [SampleType: Int] = [:]
  /// Whether a person has confirmed that the file belongs here although it names another person.
  public var mergedPersons = false
  /// The samples that earlier exports had and this one lacks, if they were determined.
  public var missing = MissingSamples()
  /// The undo journal, see ``ImportWriter/journal``; `nil` if nothing was read.
  var journal: Int64?
  /// The owner of the store after the import; `nil` if nothing was read.
  var owner: RecordOwner?
  /// The outcome of the snapshot; `nil` if none was requested.
  public var snapshot: SnapshotOutcome?
  /// The earlier import of identical bytes, if nothing was read because of it.
  public var earlier: ImportRecord?
  /// The exports in the order in which they were imported, if a zip file or folder holds several.
  public var exports: [Export] = []

  /// An export among several: its place in the file and its date.
  public struct Export: Hashable, Sendable, Encodable {
    /// The last components of its path.
    public var place: String
    /// The export date; `nil` if the export has none.
    public var exported: Timestamp?
  }
}

extension ImportResult {
  /// Adds the outcome of the next of several exports.
  mutating func add(_ other: ImportResult, of export: Export) {
    if other.earlier == nil {
      let isFirst = exports.isEmpty || earlier != nil
      report = isFirst ? other.report.named(export.place) : report.adding(other.report.named(export.place))
      summary += other.summary
      read.merge(other.read, uniquingKeysWith: +)
      mergedPersons = mergedPersons || other.mergedPersons
      earlier = nil
    } else if exports.isEmpty || earlier != nil {
      earlier = other.earlier
    }
    // The newest export comes last, and its missing samples count.
    (missing, snapshot) = (other.missing, other.snapshot)
    exports.append(export)
  }
}

/// The outcome of ``ImportOptions/isSnapshot``.
public enum SnapshotOutcome: Hashable, Sendable {
  /// Missing samples were deleted, if there were any.
  case done
  /// Too many samples were missing to delete them without ``ImportOptions/force``.
  case refused
  /// The export is older than one that was imported before.
  case notNewer(than: Timestamp)
  /// The file is truncated.
  case incomplete
  /// The file has no export date.
  case undated

  /// The outcome in one word, for programs and the audit log.
  public var name: String {
    switch self {
    case .done: "done"
    case .refused: "refused"
    case .notNewer: "notNewer"
    case .incomplete: "incomplete"
    case .undated: "undated"
    }
  }
}

/// The reasons why a file is not imported. Nothing was changed, except before ``changedMeanwhile``.
public enum ImportRefusal: Error, Hashable, Sendable {
  /// A snapshot was requested, but the file is not an Apple Health export.
  case noSnapshot(file: String)
  /// The file names another person than the store, and a person has not confirmed that they are the same.
  case anotherPerson(PersonContradiction)
  /// Earlier exports were another person's, so what this one lacks may be theirs.
  case snapshotOfAnotherPerson
  /// The file holds several exports, and the persons of two of them differ.
  ///
  /// - Parameters:
  ///   - places: the places of these two in the file.
  ///   - difference: the trait that differs: `date of birth`, `sex`, `blood type`.
  case severalPersons(file: String, exports: Int, places: [String], difference: String)
  /// The file now names another person than when it was checked, so it is still being written.
  case changedMeanwhile
}

/// The contradictions between two persons.
public struct PersonContradiction: Hashable, Sendable {
  /// The traits that both name with different values, in a fixed order; never empty in
  /// ``ImportRefusal/anotherPerson(_:)``.
  public var traits: [Person.Trait]
  /// The person of the file.
  public var person: Person
  /// The person of the store.
  public var own: Person
}
