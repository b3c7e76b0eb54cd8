import HealthFormats
import HealthModel
import HealthStore

/// Decides what a file may do to a store: whether what is of its person may be taken in, and whether what earlier exports
/// held and this one lacks may be deleted.
struct ImportPolicy: Sendable {
  /// Above this share of missing samples, something else than a few deletions has happened.
  private static let tolerableShare = 0.05

  let store: HealthStore
  var options: ImportOptions
  /// `nil` where there is nobody to ask.
  let confirm: ImportOperation.PersonConfirmation?

  /// Asks about a person who contradicts that of the store. A person of whom that was said before may come again.
  ///
  /// - Returns: what it was compared with, and whether it needed to be said that it belongs here, and was.
  /// - Throws: ``ImportRefusal/anotherPerson(_:)`` unless it does.
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

  /// Why this export says nothing of what is no longer there; `nil` where it does.
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

  /// Whether so much may be deleted: not more than a few, nor all of a type, unless that was asked for.
  func mayDelete(_ missing: MissingSamples) -> Bool {
    options.force || missing.share <= Self.tolerableShare && missing.wholeTypes.isEmpty
  }
}
