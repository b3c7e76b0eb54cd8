import HealthFormats
import HealthModel
import HealthStore

/// What an import did.
public struct ImportResult: Sendable {
  /// What the file held; of several exports, all that were read. Says nothing where ``earlier`` is set.
  public var report = ImportReport()
  /// What became of it in the store; of several exports, in all.
  public var summary = WriteSummary()
  /// Samples read, by type.
  public var read: [SampleType: Int] = [:]
  /// Somebody has confirmed that the file belongs here although it is of another person.
  public var mergedPersons = false
  /// What earlier exports had and this one lacks, if that was looked for.
  public var missing = MissingSamples()
  /// See ``ImportWriter/journal``; `nil` where nothing was read.
  var journal: Int64?
  /// Whose the store was afterwards, likewise.
  var owner: RecordOwner?
  /// `nil` where no snapshot was asked for.
  public var snapshot: SnapshotOutcome?
  /// The import of the very same bytes, because of which nothing was read.
  public var earlier: ImportRecord?
  /// Where a zip file or folder holds several exports: these, in the order in which they were imported.
  public var exports: [Export] = []

  /// One of several exports: where in the file it is, and how old.
  public struct Export: Hashable, Sendable, Encodable {
    /// The end of its path.
    public var place: String
    /// When it says that it was made; `nil` where it does not say.
    public var exported: Timestamp?
  }
}

extension ImportResult {
  /// Adds what the import of the next of several exports did.
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
    // The newest comes last, and what it lacks counts.
    (missing, snapshot) = (other.missing, other.snapshot)
    exports.append(export)
  }
}

/// What became of ``ImportOptions/isSnapshot``.
public enum SnapshotOutcome: Hashable, Sendable {
  /// What was missing has been deleted; perhaps there was nothing.
  case done
  /// Too much was missing to delete it without ``ImportOptions/force``.
  case refused
  /// The export is older than one that was imported before.
  case notNewer(than: Timestamp)
  /// The file is not whole.
  case incomplete
  /// The file does not say when it was made.
  case undated

  /// One word, for programs and the audit log.
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

/// Why a file is not imported. But for ``changedMeanwhile``, nothing has been changed.
public enum ImportRefusal: Error, Hashable, Sendable {
  /// Only an Apple Health export is a snapshot of all there is.
  case noSnapshot(file: String)
  /// It says another person than the store, and nobody has said that it is the same.
  case anotherPerson(PersonContradiction)
  /// Earlier exports were another person's, so what this one lacks may be theirs.
  case snapshotOfAnotherPerson
  /// It holds several exports, and of two of them the persons differ.
  ///
  /// - Parameters:
  ///   - places: where these two are in the file.
  ///   - difference: in what: `date of birth`, `sex`, `blood type`.
  case severalPersons(file: String, exports: Int, places: [String], difference: String)
  /// It says another person than it said a moment ago: it is being written.
  case changedMeanwhile
}

/// What two persons do not have in common.
public struct PersonContradiction: Hashable, Sendable {
  /// What both say, and not the same, in a fixed order; never empty in ``ImportRefusal/anotherPerson(_:)``.
  public var traits: [Person.Trait]
  /// Whose the file is.
  public var person: Person
  /// Whose the store is.
  public var own: Person
}
