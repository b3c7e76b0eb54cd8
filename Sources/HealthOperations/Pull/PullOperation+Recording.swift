import Foundation
import HealthStore
import PeerClient
import PeerProtocol
import PeerTrust

extension PullOperation {
  /// Says whether a server's record and this machine's are of one person.
  public typealias PersonConfirmation = @Sendable (ServerRecord, PersonDoubt) async throws -> Bool

  /// Why somebody must say whose record a server has.
  public enum PersonDoubt: Hashable, Sendable {
    /// By what both say, it is another person's.
    case contradiction
    /// One of them does not say enough.
    case unknown
  }

  /// Runs `work`. Where it ends because the server's record is, or may be, another person's, asks about that and runs it
  /// again after a yes.
  func settlingPerson<Value>(of server: ServerRecord, _ work: () async throws -> Value) async throws -> Value {
    do {
      return try await work()
    } catch let error as PeerError {
      let (agreement, doubt): (PersonAgreement, PersonDoubt) =
        switch error {
        case .anotherPerson(_, let agreement): (agreement, .contradiction)
        case .personUnknown(_, let agreement): (agreement, .unknown)
        default: throw error
        }
      // Not while a connection waits: people take their time.
      guard let confirm, try await confirm(server, doubt) else { throw error }
      try await persons.confirm(agreement, with: server, in: local.store)
      return try await work()
    }
  }
}

/// What a pull leaves in the audit log and in the registry of peers.
extension PullOperation {
  /// - Parameters:
  ///   - failure: why it ended badly; `nil` where it did not.
  ///   - keepsState: whether it ended neither well nor badly, so that the log alone has it.
  func record(
    _ name: AuditEvent.Name, _ server: ServerRecord, _ done: PullProgress, reason: String? = nil,
    failure: (any Error)? = nil, keepsState: Bool = false
  ) async throws {
    var detail = [
      "peer": server.name, "id": server.id.hex, "added": String(done.added), "deleted": String(done.deleted),
      "unchanged": String(done.unchanged), "bytes": String(done.bytes), "requests": String(done.requests),
    ]
    detail["reason"] = reason
    guard !keepsState else { return try await local.store.audit.record(AuditEvent(name, detail)) }
    let text = failure is CancellationError ? "it was interrupted" : failure.map { "\($0)" }
    try await local.store.activities.end(Self.activity(of: server), failure: text, event: AuditEvent(name, detail))
  }

  /// What the state of the pulls from a machine is kept under.
  public static func activity(of server: ServerRecord) -> String { activityPrefix + server.id.hex }
  /// What the activities of all pulls begin with.
  public static let activityPrefix = "pull:"

  /// Where it was found, what it is called by now, and that its token was used.
  func note(_ server: ServerRecord, at endpoint: PeerEndpoint, name: String?) async throws {
    if let name, name != server.name {
      try await local.registry.renameServer(id: server.id, to: name)
      try await local.store.audit.record(
        AuditEvent(.peerRenamed, ["peer": name, "id": server.id.hex, "before": server.name]))
      notice(.renamed(server, to: name))
    }
    try await local.registry.updateServer(id: server.id, host: endpoint.host, port: UInt16(endpoint.port))
    let expires = server.traits.renewsToken ? server.expiry(usedAt: Date()) : nil
    try await local.registry.markServerUsed(id: server.id, expires: expires)
    // After a restore, clients wait for what was deleted meanwhile.
    if types.isEmpty, try await local.registry.notePulled(from: server.id) {
      try await local.store.audit.record(AuditEvent(.serverUnlocked, ["reason": "restored"]))
      notice(.broughtUpToDate)
    }
  }

  /// Which machine answered: two that have one identity are noticed when the first of them is met again.
  func meet(_ machine: MachineMark?, of server: ServerRecord, at endpoint: PeerEndpoint) async throws {
    guard let machine,
      let twins = try await local.registry.note(machine, of: server.id, as: .server, at: endpoint.host)
    else { return }
    try await local.store.audit.record(
      AuditEvent(
        .peerTwins,
        [
          "peer": server.name, "id": server.id.hex, "role": "server",
          "address": twins.addresses.joined(separator: ", "),
        ]))
    notice(.twins(server, twins))
  }

  /// A token that is refused as expired may be a clock's fault, and nobody would look there.
  func explain(_ server: ServerRecord, _ endpoints: [PeerEndpoint]) async {
    guard let endpoint = endpoints.first, !server.traits.isApp else { return }
    let status = try? await PeerConnection.withConnection(
      to: endpoint, trust: .pinned(server.fingerprint, peer: server.name)
    ) { connection in try await connection.status() }
    if let difference = status.flatMap(ClockDifference.init) { notice(.clocksDiffer(difference)) }
  }
}

extension PeerError {
  /// One word for the audit log.
  var auditReason: String {
    switch self {
    case .pairing(let rejection): rejection.code
    case .codeRefused: "code_refused"
    case .phoneLocked: "phone_locked"
    case .machineLocked: "machine_locked"
    case .typesUnread: "types_unread"
    case .confirmationFailed: "confirmation_failed"
    case .tokenRefused: "token_refused"
    case .onlyDaily: "only_daily"
    case .thisMachine: "this_machine"
    case .personUnknown, .personNotCompared: "person_unknown"
    default:
      switch category {
      case .unreachable: "unreachable"
      case .interrupted: "connection_lost"
      case .certificateChanged: "certificate_changed"
      case .anotherPerson: "another_person"
      case .refused, .temporary, .failing, .malformed, .locked: "other"
      }
    }
  }
}
