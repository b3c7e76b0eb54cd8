import Foundation
import HealthStore
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerTrust

/// Pairing with the text of a QR code from another machine or from an app on a phone.
extension PairOperation {
  func pair(text: String, name: String?) async throws -> ServerRecord {
    let candidates = try Self.invitations(in: text)
    // A URI of hpeer itself is understood by no other dialect.
    if candidates.count == 1, !candidates[0].dialect.traits.isApp {
      return try await pair(try PairingPayload.parse(text))
    }
    return try await pair(candidates, name: name) { _ in try await pair(try PairingPayload.parse(text)) }
  }

  /// Pairs with a typed code and the certificate fingerprint that belongs to it.
  func pair(
    code: String, fingerprint: Fingerprint, endpoints: [PeerEndpoint], name: String?
  ) async throws -> ServerRecord {
    let candidates = PeerDialects.all.compactMap { dialect -> Candidate? in
      dialect.invitation(typed: code, for: fingerprint).map { (dialect, $0) }
    }
    guard !candidates.isEmpty else { throw PairError.noCode }
    return try await pair(candidates, at: endpoints, name: name) { endpoint in
      guard let code = PairingCode(code) else { throw PairError.noCode }
      return try await pair(at: endpoint, pinned: fingerprint, code: code)
    }
  }

  /// Returns the only pairing invitation among the texts of a picture's codes.
  ///
  /// Throws `PairingPayloadError` if there is none, and ``PairError/severalCodes(_:)`` if there are several.
  public static func invitation(among texts: [String]) throws -> String {
    let found = try shownInvitations(among: texts)
    guard found.count == 1 else { throw PairError.severalCodes(found.map(\.place).sorted()) }
    return found[0].text
  }

  /// A pairing invitation found in a picture.
  public struct ShownInvitation: Hashable, Sendable {
    public let text: String
    /// The address in the invitation. This is untrusted text.
    public let place: String
    /// The names of the dialects that understand the invitation.
    public let kinds: [String]
  }

  /// Returns the distinct pairing invitations among the texts of a picture's codes.
  ///
  /// Throws `PairingPayloadError` if there is none.
  public static func shownInvitations(among texts: [String]) throws -> [ShownInvitation] {
    var (found, failure): ([ShownInvitation], (any Error)?) = ([], nil)
    for text in texts where !found.contains(where: { $0.text == text }) {
      do {
        let candidates = try invitations(in: text)
        let invitation = candidates[0].invitation
        let place = (invitation.endpoint ?? invitation.loopback)?.description ?? "an unknown address"
        found.append(ShownInvitation(text: text, place: place, kinds: candidates.map { $0.dialect.name }))
      } catch PairingPayloadError.notAPayload {
        continue
      } catch {
        failure = failure ?? error
      }
    }
    guard !found.isEmpty else { throw failure ?? PairingPayloadError.notAPayload }
    return found
  }

  /// Locates the machine that shows the invitation's certificate, and pairs with it.
  ///
  /// - Parameters:
  ///   - endpoints: possible addresses in addition to the one in the invitation.
  ///   - pairHpeer: pairs with a machine that runs hpeer and has shown the certificate.
  private func pair(
    _ candidates: [Candidate], at endpoints: [PeerEndpoint] = [], name: String?,
    _ pairHpeer: (PeerEndpoint) async throws -> ServerRecord
  ) async throws -> ServerRecord {
    let invitation = candidates[0].invitation
    let sought = ServerRecord(
      id: PeerID(certificate: invitation.fingerprint),
      name: name ?? (invitation.endpoint ?? endpoints.first)?.description ?? "the machine with this certificate",
      fingerprint: invitation.fingerprint, credential: BearerCredential(.random()),
      dialect: candidates.first { $0.dialect.traits.isApp }?.dialect.name ?? candidates[0].dialect.name)
    var another: PeerError?
    if let here = invitation.loopback {
      do {
        return try await pair(at: here, candidates, name: name, pairHpeer)
      } catch let error as PeerError {
        // Another program answers on loopback, so the invitation is from an app on a phone.
        if case .certificateChanged = error { another = error } else if error.category != .unreachable { throw error }
      }
    }
    do {
      let known = (invitation.endpoint.map { [$0] } ?? []) + endpoints
      let (record, _) = try await finder.reach(sought, endpoints: known) { endpoint -> ServerRecord in
        try await pair(at: endpoint, candidates, name: name, pairHpeer)
      }
      return record
    } catch  where another != nil && !(error is CancellationError) && !(error is PeerError) {
      // The answer on loopback explains more than a failed search.
      throw another ?? error
    } catch PeerFinderError.anotherPhone {
      throw PairError.anotherMachine(sought.name)
    } catch PeerFinderError.appNotFound where candidates.contains(where: { !$0.dialect.traits.isApp }) {
      // It is unknown whether the invitation is of hpeer or of an app, so a message for apps would mislead.
      if let expiry = invitation.expiry, expiry < Date() { throw PairingPayloadError.expired(expiry) }
      throw PeerError.unreachable(
        endpoint: invitation.endpoint.map { "\($0)" } ?? "the address in the code", reason: "nor is it announced")
    }
  }

  private typealias Candidate = (dialect: any PeerDialect.Type, invitation: PairingInvitation)

  /// Returns the dialects that understand a text as an invitation, at least one.
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

  /// Determines the dialect of a machine that has shown the certificate of the code, and pairs with it.
  private func pair(
    at endpoint: PeerEndpoint, _ candidates: [Candidate], name: String?,
    _ pairHpeer: (PeerEndpoint) async throws -> ServerRecord
  ) async throws -> ServerRecord {
    let pinned = candidates[0].invitation.fingerprint
    let greeting = ServerProbe(endpoint, trust: .pinned(pinned, peer: endpoint.description))
    let dialect = try await PeerDialects.dialect(of: greeting, among: candidates.map(\.dialect))
    guard let candidate = candidates.first(where: { $0.dialect.name == dialect?.name }) else {
      if try await PeerDialects.dialect(of: greeting) != nil { throw PairError.noCode }
      throw PeerError.strangeServer(peer: name ?? endpoint.description)
    }
    guard candidate.dialect.traits.isApp else { return try await pairHpeer(endpoint) }
    let announced = name == nil ? await announcedName(of: endpoint) : nil
    let known = try await local.registry.server(id: PeerID(certificate: pinned))
    let called = name ?? announced ?? known?.name
    do {
      let record = try await candidate.dialect.pair(
        candidate.invitation, at: endpoint, name: called, own: local.identity, ownName: local.name)
      // The phone has completed the pairing, so this side must record it.
      try await uncancelled { [local] in
        try await local.registry.addServer(record)
        try await local.record(success: Self.detail(record, candidate.dialect))
      }
      if let difference = ClockDifference(lead: candidate.invitation.clockLead()) { notice(.clocksDiffer(difference)) }
      return record
    } catch let error as PeerError {
      try await uncancelled { [local] in
        let name = called ?? endpoint.description
        try await local.record(
          failure: ["peer": name, "role": "client", "dialect": candidate.dialect.name, "reason": error.auditReason])
      }
      let lead = candidate.invitation.clockLead()
      if case .codeRefused = error, lead > 0 { notice(.codeLooksOld(seconds: lead)) }
      throw error
    }
  }

  private static func detail(_ record: ServerRecord, _ dialect: any PeerDialect.Type) -> [String: String] {
    ["peer": record.name, "id": record.id.hex, "role": "client", "dialect": dialect.name]
  }

  /// The time limit for discovering the name of an app that was found by its address.
  private static let listening = Duration.seconds(2)

  private func announcedName(of endpoint: PeerEndpoint) async -> String? {
    let seen = try? await finder.look(for: Self.listening) { $0.endpoints.contains(endpoint) }
    return seen?.first { $0.endpoints.contains(endpoint) }?.name
  }
}
