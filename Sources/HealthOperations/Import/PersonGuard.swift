import HealthModel
import HealthStore

/// Keeps what is of one person from being imported into the store of another.
struct PersonGuard: Sendable {
  let store: HealthStore
  /// Somebody has said that it belongs here.
  var merges: Bool
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
    if merges { return true }
    if try await store.imports.hasConfirmed(person) { return true }
    if let confirm, try await confirm(contradiction) { return true }
    throw ImportRefusal.anotherPerson(contradiction)
  }
}
