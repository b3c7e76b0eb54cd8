import Foundation
import HealthModel
import HealthStore
import NIOHTTP1
import PeerProtocol
import PeerTrust
import Synchronization

/// A check that a store only accepts the record of its own person (`docs/protocol/person.md`).
///
/// The server is asked whose record it has only if the person on either side has changed since the last time. The
/// registry stores the agreement with the server's mark, and a server whose mark has changed refuses the request.
public struct PersonCheck: Sendable {
  private let registry: PeerRegistry
  private let merging: Merging?

  /// The user's permission to merge records of different or unknown persons (`--merge-person`). It is valid once for
  /// each server: if a followed server's person changes later, the user must be asked again.
  private final class Merging: Sendable {
    private let used = Mutex<Set<PeerID>>([])

    func isOpen(for server: PeerID) -> Bool { used.withLock { !$0.contains(server) } }
    func useUp(for server: PeerID) { used.withLock { used in _ = used.insert(server) } }
  }

  /// - Parameter merges: permits one merge per server, over the lifetime of this value and its copies, if the persons
  ///   differ or cannot be compared.
  public init(_ registry: PeerRegistry, merges: Bool = false) {
    self.registry = registry
    merging = merges ? Merging() : nil
  }

  /// The conditions under which a store may accept a server's record.
  struct Admission: Sendable {
    /// The mark of the person whose record to request; `nil` for any.
    var mark: String?
    /// The state of the store at the check. It becomes outdated when another pull or an import begins to fill the
    /// store.
    var owner: RecordOwner
  }

  /// Returns the conditions for pulling from a server.
  ///
  /// Throws ``PeerError/anotherPerson(peer:_:)``, ``PeerError/personUnknown(peer:_:)`` or
  /// ``PeerError/personNotCompared(peer:)`` if the store must not accept its record.
  ///
  /// - Parameter asksAgain: whether the stored agreement is no longer valid on the server's side.
  func admit(
    _ server: ServerRecord, into store: HealthStore, over connection: PeerConnection, asksAgain: Bool = false
  ) async throws -> Admission {
    let owner = try await store.owner()
    let mark = try await mark(server, owner, in: store, over: connection, asksAgain: asksAgain)
    return Admission(mark: mark, owner: owner)
  }

  /// Checks an app on a phone, which does not report its person: a user must confirm whose phone it is, unless the
  /// store is empty.
  ///
  /// - Returns: the required state of the store for applying the answer.
  func admit(phone server: ServerRecord, into store: HealthStore) async throws -> RecordOwner {
    let owner = try await store.owner()
    _ = try await mark(server, owner, in: store, over: nil, asksAgain: false)
    return owner
  }

  /// Returns the agreement to store if a user confirms that a phone belongs to the person whose record the store
  /// holds.
  public func agreement(onPhone server: ServerRecord, in store: HealthStore) async throws -> PersonAgreement {
    PersonAgreement(claim: claim(of: try await store.owner().person, to: server).digest, mark: nil)
  }

  /// Returns the mark of the agreed person.
  ///
  /// - Parameter connection: the connection, or `nil` for a server that cannot compare persons.
  private func mark(
    _ server: ServerRecord, _ owner: RecordOwner, in store: HealthStore, over connection: PeerConnection?,
    asksAgain: Bool
  ) async throws -> String? {
    let claim = claim(of: owner.person, to: server)
    let agreed = try await registry.personAgreement(with: server.id)
    // A server that returned no mark earlier may have been updated and be able to compare now.
    if !asksAgain, let agreed, agreed.claim == claim.digest,
      claim.value == nil || agreed.mark != nil || connection == nil
    {
      return agreed.mark
    }
    guard let answer = try await ask(server, claim.value, over: connection) else {
      let agreement = PersonAgreement(claim: claim.digest, mark: nil)
      if agreement == agreed { return nil }
      // Earlier pulls from this server don't help: both persons are known, and one of them has changed since.
      try await merge(agreement, with: server, in: store, or: .personNotCompared(peer: server.name))
      return nil
    }
    let agreement = PersonAgreement(claim: claim.digest, mark: answer.mark)
    if agreement == agreed, answer.mark != nil || answer.verdict == .unknown { return answer.mark }
    switch answer.verdict {
    case .same: try await registry.agree(agreement, with: server.id)
    case .different:
      try await merge(agreement, with: server, in: store, or: .anotherPerson(peer: server.name, agreement))
    case .unknown:
      // An empty store has no record to mix. This is not stored, because it is only true while the store is empty.
      if owner.isEmpty { break }
      // Earlier pulls have already merged the two records.
      if try await store.hasPosition(ofConsumers: Pull.consumers(of: server)) {
        try await registry.agree(agreement, with: server.id)
      } else {
        try await merge(agreement, with: server, in: store, or: .personUnknown(peer: server.name, agreement))
      }
    }
    return answer.mark
  }

  private func merge(
    _ agreement: PersonAgreement, with server: ServerRecord, in store: HealthStore, or refusal: PeerError
  ) async throws {
    guard let merging, merging.isOpen(for: server.id) else { throw refusal }
    try await confirm(agreement, with: server, in: store)
    merging.useUp(for: server.id)
  }

  /// Stores the user's confirmation that both records are of the same person.
  public func confirm(
    _ agreement: PersonAgreement, with server: ServerRecord, in store: HealthStore
  ) async throws {
    try await store.audit.record(AuditEvent(.personConfirmed, ["peer": server.name, "id": server.id.hex]))
    try await registry.agree(agreement, with: server.id)
  }

  /// Asks a newly paired server whether its record is of the same person, to report the answer. Returns `nil` if this
  /// store is still empty.
  public func introduce(
    _ store: HealthStore, to server: ServerRecord, at endpoint: PeerEndpoint, identity: PeerIdentity?
  ) async throws -> PersonAnswer.Verdict? {
    let owner = try await store.owner()
    if owner.isEmpty { return nil }
    let claim = claim(of: owner.person, to: server)
    let answer = try await PeerConnection.withConnection(
      to: endpoint, trust: .pinned(server.fingerprint, peer: server.name), identity: identity
    ) { connection in try await ask(server, claim.value, over: connection) }
    guard let answer else { return .unknown }
    if answer.verdict == .same {
      try await registry.agree(PersonAgreement(claim: claim.digest, mark: answer.mark), with: server.id)
    }
    return answer.verdict
  }

  private func claim(of person: Person, to server: ServerRecord) -> (value: PersonClaim?, digest: Data) {
    let claim = PersonKey(server.credential)?.claim(of: person)
    return (claim, claim?.digest ?? Data())
  }

  private func ask(
    _ server: ServerRecord, _ claim: PersonClaim?, over connection: PeerConnection?
  ) async throws -> PersonAnswer? {
    guard let claim, let connection else { return PersonAnswer(.unknown, mark: nil) }
    return try await connection.compare(claim, with: server)
  }
}

extension PeerConnection {
  /// Asks the peer to compare persons. A peer that does not support this, such as an older version, answers
  /// ``PersonAnswer/Verdict/unknown``.
  ///
  /// - Returns: `nil` if the peer refuses because it has made the maximum number of comparisons for this pairing.
  func compare(_ claim: PersonClaim, with server: ServerRecord) async throws -> PersonAnswer? {
    let (status, answer, raw) = try await exchange(
      .POST, Route.person, headers: [("Authorization", "Bearer \(server.credential.text)")], body: claim,
      as: Envelope<PersonAnswer>.self)
    switch status {
    case 200:
      guard let answer = answer?.data else {
        throw PeerError.unexpectedAnswer(status: 200, message: "something else than whose record it is")
      }
      return answer
    case 401: throw PeerError.tokenRefused(peer: server.name)
    case 404: return PersonAnswer(.unknown, mark: nil)
    // The status means that the owner has locked the machine, or that it has made enough comparisons.
    case 423:
      let said = try? JSONDecoder().decode(FailureEnvelope.self, from: raw)
      if said?.error == FailureEnvelope.machineLocked { throw PeerError.machineLocked(peer: server.name) }
      return nil
    default: throw failure(status: status, raw: raw)
    }
  }
}
