import Foundation
import HealthModel
import HealthStore
import NIOHTTP1
import PeerProtocol
import PeerTrust
import Synchronization

/// Sees to it that a store takes in only what is of its own person (`docs/protocol/person.md`).
///
/// A server is asked whose record it has when either side's person has changed since the last time, and not with every
/// pull: what was agreed on is kept in the registry, with the server's mark, and a server whose mark is another by now
/// refuses.
public struct PersonCheck: Sendable {
  private let registry: PeerRegistry
  private let merging: Merging?

  /// The user's permission to merge records of different or unknown persons (`--merge-person`). It is valid once for each
  /// server: when a server's person changes later, while it is followed, the user must be asked again.
  private final class Merging: Sendable {
    private let used = Mutex<Set<PeerID>>([])

    func isOpen(for server: PeerID) -> Bool { used.withLock { !$0.contains(server) } }
    func useUp(for server: PeerID) { used.withLock { used in _ = used.insert(server) } }
  }

  /// - Parameter merges: goes on once, in the lifetime of this and its copies, where the persons are different or nobody
  ///   can tell.
  public init(_ registry: PeerRegistry, merges: Bool = false) {
    self.registry = registry
    merging = merges ? Merging() : nil
  }

  /// What a store may take in of a server.
  struct Admission: Sendable {
    /// Which person's record to ask the server for; `nil` for whatever it has.
    var mark: String?
    /// The store as it was then: true no longer once another pull or an import has begun to fill it.
    var owner: RecordOwner
  }

  /// Which person's record to ask the server for.
  ///
  /// Throws ``PeerError/anotherPerson(peer:_:)``, ``PeerError/personUnknown(peer:_:)`` or
  /// ``PeerError/personNotCompared(peer:)`` unless the store may take it in.
  ///
  /// - Parameter asksAgain: what was agreed on is no longer true on the server's side.
  func admit(
    _ server: ServerRecord, into store: HealthStore, over connection: PeerConnection, asksAgain: Bool = false
  ) async throws -> Admission {
    let owner = try await store.owner()
    let mark = try await mark(server, owner, in: store, over: connection, asksAgain: asksAgain)
    return Admission(mark: mark, owner: owner)
  }

  /// The same for an app on a phone, which tells no person: somebody must say whose phone it is, unless the store is empty.
  ///
  /// - Returns: how the store must be for what comes to be taken in.
  func admit(phone server: ServerRecord, into store: HealthStore) async throws -> RecordOwner {
    let owner = try await store.owner()
    _ = try await mark(server, owner, in: store, over: nil, asksAgain: false)
    return owner
  }

  /// What somebody agrees on who says that a phone is the person's whose record the store holds.
  public func agreement(onPhone server: ServerRecord, in store: HealthStore) async throws -> PersonAgreement {
    PersonAgreement(claim: claim(of: try await store.owner().person, to: server).digest, mark: nil)
  }

  /// - Parameter connection: `nil` for a server that cannot be asked.
  private func mark(
    _ server: ServerRecord, _ owner: RecordOwner, in store: HealthStore, over connection: PeerConnection?,
    asksAgain: Bool
  ) async throws -> String? {
    let claim = claim(of: owner.person, to: server)
    let agreed = try await registry.personAgreement(with: server.id)
    // Without a mark from a server that could give one, it may have learnt to compare meanwhile.
    if !asksAgain, let agreed, agreed.claim == claim.digest,
      claim.value == nil || agreed.mark != nil || connection == nil
    {
      return agreed.mark
    }
    guard let answer = try await ask(server, claim.value, over: connection) else {
      let agreement = PersonAgreement(claim: claim.digest, mark: nil)
      if agreement == agreed { return nil }
      // Not even one that has pulled from there goes on: both persons are known, and are others than when it did.
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
      // There is nobody to mix anyone with; which is not remembered, for it is true no longer than that.
      if owner.isEmpty { break }
      // Or it has happened.
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

  /// Somebody has said that both records are of one person.
  public func confirm(
    _ agreement: PersonAgreement, with server: ServerRecord, in store: HealthStore
  ) async throws {
    try await store.audit.record(AuditEvent(.personConfirmed, ["peer": server.name, "id": server.id.hex]))
    try await registry.agree(agreement, with: server.id)
  }

  /// Asks a server that was paired with just now, to say it. `nil` where this store is still empty.
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
  /// What the peer says about whose record it has. One that does not compare persons, being an older version or another
  /// program, knows nothing.
  ///
  /// - Returns: `nil` from one that could, and has compared as many for this pairing as it does.
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
    // That its owner has locked it, or that it has compared enough.
    case 423:
      let said = try? JSONDecoder().decode(FailureEnvelope.self, from: raw)
      if said?.error == FailureEnvelope.machineLocked { throw PeerError.machineLocked(peer: server.name) }
      return nil
    default: throw failure(status: status, raw: raw)
    }
  }
}
