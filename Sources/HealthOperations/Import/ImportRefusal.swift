import HealthModel

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
