import HealthFormats
import HealthModel
import HealthStore

/// The rules for what a file may change in a store: whether data of its person may be added, and whether samples that
/// earlier exports had and this one lacks may be deleted.
struct ImportPolicy: Sendable {
  /// The largest share of missing samples that ordinary deletions may explain.
  private static let tolerableShare = 0.05

  let store: HealthStore
  var options: ImportOptions
  /// Asks for confirmation; `nil` if there is no person to ask.
  let confirm: ImportOperation.PersonConfirmation?

  /// Checks a file's person against the store's, and asks for confirmation if they contradict. A person who was
  /// confirmed before is accepted.
  ///
  /// - Returns: the admission for the writer, and whether a confirmation was needed and given now.
  /// - Throws: ``ImportRefusal/anotherPerson(_:)`` if the person is not confirmed.
  func admit(_ person: Person) async throws -> (admission: ImportWriter.Admission, wasConfirmed: Bool) {
    let owner = try await store.owner()
    return (ImportWriter.Admission(person, into: owner), try await confirm(person, in: owner.person))
  }

  private func confirm(_ person: Person, in own: Person) async throws -> Bool {
    let contradiction = PersonContradiction(traits: person.contradictions(to: own), person: person, own: own)
    if contradiction.traits.isEmpty { return false }
    if options.mergesPersons { return true }
    if try await store.imports.hasConfirmed(person) { return true }
    if let confirm, try await confirm(contradiction) { return true }
    throw ImportRefusal.anotherPerson(contradiction)
  }

  /// Returns why this export does not show what no longer exists, or `nil` if it does.
  ///
  /// - Throws: ``ImportRefusal/snapshotOfAnotherPerson``.
  func snapshotObstacle(_ survey: ExportSurvey) async throws -> SnapshotOutcome? {
    guard survey.isComplete else { return .incomplete }
    guard let date = survey.exportDate else { return .undated }
    if let newest = try await store.imports.newestExport()?.exported, newest > date { return .notNewer(than: newest) }
    if options.isSnapshot, !options.force, let person = survey.personKey,
      try await store.imports.hasExports(ofOthersThan: person),
      try await !store.imports.hasConfirmed(survey.person, isFinished: true)
    {
      throw ImportRefusal.snapshotOfAnotherPerson
    }
    return nil
  }

  /// Returns whether the missing samples may be deleted: only a small share and no complete type, unless forced.
  func mayDelete(_ missing: MissingSamples) -> Bool {
    options.force || missing.share <= Self.tolerableShare && missing.wholeTypes.isEmpty
  }
}
