import Foundation
import HealthStore
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerTrust

/// Pairing by the text of a QR code, which may be that of another machine or of an app on a phone.
extension PairOperation {
  func pair(text: String, name: String?) async throws -> ServerRecord {
    let candidates = try Self.invitations(in: text)
    // A URI of hpeer's own can be of nothing else.
    if candidates.count == 1, !candidates[0].dialect.traits.isApp {
      return try await pair(try PairingPayload.parse(text))
    }
    let invitation = candidates[0].invitation
    let sought = ServerRecord(
      id: PeerID(certificate: invitation.fingerprint),
      name: name ?? invitation.endpoint?.description ?? "the address in the code",
      fingerprint: invitation.fingerprint, credential: BearerCredential(.random()),
      dialect: candidates.first { $0.dialect.traits.isApp }?.dialect.name ?? candidates[0].dialect.name)
    var another: PeerError?
    if let here = invitation.loopback {
      do {
        return try await pair(at: here, candidates, text: text, name: name)
      } catch let error as PeerError {
        // Then it is of an app, on a phone that is to be looked for.
        if case .certificateChanged = error { another = error } else if error.category != .unreachable { throw error }
      }
    }
    do {
      let (record, _) = try await finder.reach(sought, endpoints: invitation.endpoint.map { [$0] } ?? []) {
        endpoint -> ServerRecord in
        try await pair(at: endpoint, candidates, text: text, name: name)
      }
      return record
    } catch  where another != nil && !(error is CancellationError) && !(error is PeerError) {
      // What answered says more than that nobody else was found, or that nobody could be looked for.
      throw another ?? error
    } catch PeerFinderError.appNotFound where candidates.contains(where: { !$0.dialect.traits.isApp }) {
      // What a person should do depends on which it is, and nobody has said that.
      if let expiry = invitation.expiry, expiry < Date() { throw PairingPayloadError.expired(expiry) }
      throw PeerError.unreachable(
        endpoint: invitation.endpoint.map { "\($0)" } ?? "the address in the code", reason: "nor is it announced")
    }
  }

  private typealias Candidate = (dialect: any PeerDialect.Type, invitation: PairingInvitation)

  /// The dialects that a text may be an invitation of; at least one.
  private static func invitations(in text: String) throws -> [Candidate] {
    var (candidates, failure): ([Candidate], (any Error)?) = ([], nil)
    for dialect in PeerDialects.all {
      do {
        if let invitation = try dialect.invitation(in: text) { candidates.append((dialect, invitation)) }
      } catch {
        failure = failure ?? error
      }
    }
    if candidates.isEmpty { throw failure ?? PairingPayloadError.notAPayload }
    return candidates
  }

  /// Pairs with what has shown the certificate of the code, once it is known what it speaks.
  private func pair(
    at endpoint: PeerEndpoint, _ candidates: [Candidate], text: String, name: String?
  ) async throws -> ServerRecord {
    let pinned = candidates[0].invitation.fingerprint
    let greeting = PeerGreeting(endpoint, trust: .pinned(pinned, peer: endpoint.description))
    let dialect = try await PeerDialects.dialect(of: greeting, among: candidates.map(\.dialect))
    guard let candidate = candidates.first(where: { $0.dialect.name == dialect?.name }) else {
      throw PeerError.strangeServer(peer: name ?? endpoint.description)
    }
    guard candidate.dialect.traits.isApp else { return try await pair(try PairingPayload.parse(text)) }
    let announced = name == nil ? await announcedName(of: endpoint) : nil
    let known = try await local.registry.server(id: PeerID(certificate: pinned))
    let called = name ?? announced ?? known?.name
    do {
      let record = try await candidate.dialect.pair(
        candidate.invitation, at: endpoint, name: called, own: local.identity, ownName: local.name)
      // The phone has paired by now.
      try await uncancelled { [local] in
        try await local.registry.addServer(record)
        try await local.store.audit.record(AuditEvent(.pairingSucceeded, Self.detail(record, candidate.dialect)))
      }
      if let difference = ClockDifference(lead: candidate.invitation.clockLead()) { notice(.clocksDiffer(difference)) }
      return record
    } catch let error as PeerError {
      try await uncancelled { [local] in
        let name = called ?? endpoint.description
        try await local.store.audit.record(
          AuditEvent(
            .pairingFailed,
            ["peer": name, "role": "client", "dialect": candidate.dialect.name, "reason": error.auditReason]))
      }
      throw error
    }
  }

  private static func detail(_ record: ServerRecord, _ dialect: any PeerDialect.Type) -> [String: String] {
    ["peer": record.name, "id": record.id.hex, "role": "client", "dialect": dialect.name]
  }

  /// How long to listen for the name of what has been found by its address.
  private static let listening = Duration.seconds(2)

  private func announcedName(of endpoint: PeerEndpoint) async -> String? {
    let seen = try? await finder.look(for: Self.listening) { $0.endpoints.contains(endpoint) }
    return seen?.first { $0.endpoints.contains(endpoint) }?.name
  }
}
