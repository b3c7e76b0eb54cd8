import HealthModel
import HealthStore
import Terminal

/// Keeps what is of one person from being imported into the store of another.
struct PersonGuard {
  let store: HealthStore
  /// Somebody has said that it belongs here.
  let merges: Bool

  /// Asks, where there is a terminal, about a person who contradicts that of the store. A person of whom that was said
  /// before may come again.
  ///
  /// - Returns: what it was compared with, and whether it needed to be said that it belongs here, and was.
  /// - Throws: ``CommandFailure`` with ``ExitStatus/badInput`` unless it does.
  func admit(_ person: Person) async throws -> (admission: ImportWriter.Admission, wasConfirmed: Bool) {
    let owner = try await store.owner()
    return (ImportWriter.Admission(person, into: owner), try await confirm(person, in: owner.person))
  }

  private func confirm(_ person: Person, in own: Person) async throws -> Bool {
    let contradictions = person.contradictions(to: own)
    if contradictions.isEmpty { return false }
    if merges { return true }
    if try await store.hasConfirmed(person) { return true }
    let differences = PersonText.differences(contradictions, of: person, from: own)
    if Console.isInteractive, try await Prompt.confirm("This file says \(differences). Is it the same person's record?")
    {
      return true
    }
    throw CommandFailure(
      .badInput,
      "This file says \(differences), so it seems to be another person's, and nothing was changed; if it is the same "
        + "person's, give --merge-person once, else import it into a store of its own with --home DIR.")
  }
}
