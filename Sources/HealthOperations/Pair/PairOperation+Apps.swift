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
    return try await pair(candidates, name: name) { _ in try await pair(try PairingPayload.parse(text)) }
  }

  /// By a code that was typed, and the certificate that it goes with.
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

  /// The one text of several, as a picture has them, that is an invitation of something that is paired with.
  ///
  /// Throws `PairingPayloadError` where none is, and ``PairError/severalCodes(_:)`` where more than one is.
  public static func invitation(among texts: [String]) throws -> String {
    let found = try shownInvitations(among: texts)
    guard found.count == 1 else { throw PairError.severalCodes(found.map(\.place).sorted()) }
    return found[0].text
  }

  /// An invitation that a picture shows.
  public struct ShownInvitation: Hashable, Sendable {
    public let text: String
    /// Where it says that its server is: hostile text.
    public let place: String
    /// Whose it may be: names of dialects.
    public let kinds: [String]
  }

  /// The pairing invitations among the texts of a picture's codes, each once.
  ///
  /// Throws `PairingPayloadError` where none is.
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

  /// - Parameters:
  ///   - endpoints: where it may be, beside what the invitation says.
  ///   - pairHpeer: how an hpeer is paired with that has shown the certificate.
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
        // Then it is of an app, on a phone that is to be looked for.
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
      // What answered says more than that nobody else was found, or that nobody could be looked for.
      throw another ?? error
    } catch PeerFinderError.anotherPhone {
      throw PairError.anotherMachine(sought.name)
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
    at endpoint: PeerEndpoint, _ candidates: [Candidate], name: String?,
    _ pairHpeer: (PeerEndpoint) async throws -> ServerRecord
  ) async throws -> ServerRecord {
    let pinned = candidates[0].invitation.fingerprint
    let greeting = PeerGreeting(endpoint, trust: .pinned(pinned, peer: endpoint.description))
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
      // The phone has paired by now.
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

  /// How long to listen for the name of what has been found by its address.
  private static let listening = Duration.seconds(2)

  private func announcedName(of endpoint: PeerEndpoint) async -> String? {
    let seen = try? await finder.look(for: Self.listening) { $0.endpoints.contains(endpoint) }
    return seen?.first { $0.endpoints.contains(endpoint) }?.name
  }
}
