import Foundation
import HealthStore
import PeerClient
import PeerProtocol
import PeerTrust

extension PullOperation {
  /// A function that asks whether a server's record and this machine's are of the same person.
  public typealias PersonConfirmation = @Sendable (ServerRecord, PersonDoubt) async throws -> Bool

  /// The reasons why a person must confirm whose record a server has.
  public enum PersonDoubt: Hashable, Sendable {
    /// The two records name different persons.
    case contradiction
    /// The persons cannot be compared, because a record does not say enough.
    case unknown
  }

  /// Runs `work`. If it fails because the server's record is or may be another person's, asks for confirmation and
  /// runs it again after a yes.
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
      // The question is asked without an open connection, because people take their time.
      guard let confirm, try await confirm(server, doubt) else { throw error }
      try await persons.confirm(agreement, with: server, in: local.store)
      return try await work()
    }
  }
}

/// The entries that a pull makes in the audit log and the peer registry.
extension PullOperation {
  /// Records the end of a pull in the audit log and in its activity state.
  ///
  /// - Parameters:
  ///   - failure: the error that ended the pull; `nil` after success.
  ///   - keepsState: whether the pull neither succeeded nor failed, so that only the audit log is written.
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

  /// Returns the key of the activity state of the pulls from a server.
  public static func activity(of server: ServerRecord) -> String { activityPrefix + server.id.hex }
  /// The prefix of the activity keys of all pulls.
  public static let activityPrefix = "pull:"

  /// Notes where a server was found, its current name, and that its token was used.
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
    // A restored machine stays locked until it has pulled later deletions from every server.
    if types.isEmpty, try await local.registry.notePulled(from: server.id) {
      try await local.store.audit.record(AuditEvent(.serverUnlocked, ["reason": "restored"]))
      notice(.broughtUpToDate)
    }
  }

  /// Notes which machine answered. Two machines that share one identity are detected when the first answers again.
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

  /// Sends a notice if the clocks differ: then a token may be refused as expired although it is not.
  func explain(_ server: ServerRecord, _ endpoints: [PeerEndpoint]) async {
    guard let endpoint = endpoints.first, !server.traits.isApp else { return }
    let status = try? await PeerConnection.withConnection(
      to: endpoint, trust: .pinned(server.fingerprint, peer: server.name)
    ) { connection in try await connection.status() }
    if let difference = status.flatMap(ClockDifference.init) { notice(.clocksDiffer(difference)) }
  }
}

extension PeerError {
  /// A one-word reason for the audit log.
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
