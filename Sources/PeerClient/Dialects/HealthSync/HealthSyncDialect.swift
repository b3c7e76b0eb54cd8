import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust

/// The dialect of the iPhone app HealthSync: samples by type and time, newest first, at most ten thousand per answer
/// and sixty requests per minute.
public struct HealthSyncDialect: PeerDialect {
  public static let name = "HealthSync"
  static let profile = TransportProfile(leastTLS: .tls13)

  public static var traits: DialectTraits {
    var traits = DialectTraits()
    traits.transport = profile
    traits.advice = "open HealthSync on the phone, tap Start Sharing, and keep it open and unlocked"
    // The app's pairings end thirty days after they were made, regardless of use.
    (traits.canBeTold, traits.renewsToken) = (false, false)
    return traits
  }

  let settings: PullSettings

  public init(_ settings: PullSettings) { self.settings = settings }

  // MARK: Recognising

  /// Returns false, because the app's announcement contains only a name, like that of other apps.
  public static func recognises(_ announcement: DiscoveredPeer) -> Bool { false }

  /// Returns whether the server answers like this app without a token; no other program uses these words.
  public static func recognises(_ greeting: ServerProbe) async throws -> Bool {
    let answer = try await greeting.answer(to: "/api/v1/status")
    return answer.status == 401 && answer.text == "Missing or invalid token"
  }

  // MARK: Pairing

  private struct Payload: Decodable {
    var version: String?
    var host: String?
    var port: Int?
    var code: String?
    var expiresAt: Timestamp?
    var certificateFingerprint: String?
  }

  public static func invitation(in text: String) throws -> PairingInvitation? {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.utf8.count <= 4_096, text.hasPrefix("{") else { return nil }
    let payload: Payload
    do {
      payload = try JSONDecoder().decode(Payload.self, from: Data(text.utf8))
    } catch {
      // JSON objects of other apps also end here, because their members have other names.
      return nil
    }
    guard let hex = payload.certificateFingerprint else { return nil }
    if let version = payload.version, version != "1" {
      throw PairingPayloadError.unsupportedVersion(version.shortened(toBytes: 20))
    }
    guard let fingerprint = Fingerprint(hex: hex) else { throw PairingPayloadError.badField("certificateFingerprint") }
    guard let code = payload.code, isCode(code) else { throw PairingPayloadError.badField("code") }
    guard let port = payload.port.flatMap({ UInt16(exactly: $0) }), port > 0 else {
      throw PairingPayloadError.badField("port")
    }
    return PairingInvitation(
      host: payload.host.flatMap(PairingHost.normalized), port: port, fingerprint: fingerprint, code: code,
      expiry: payload.expiresAt.map { Date(timeIntervalSince1970: Double($0.seconds)) })
  }

  /// Returns whether a text may be a code: eight letters and digits today, perhaps more in later versions.
  private static func isCode(_ text: String) -> Bool {
    (4...64).contains(text.utf8.count) && text.utf8.allSatisfy { (33...126).contains($0) }
  }

  public static func invitation(typed code: String, for fingerprint: Fingerprint) -> PairingInvitation? {
    let code = code.filter { !$0.isWhitespace }
    // Six digits are another app's code. An eight-character code hardly ever consists of digits alone.
    guard code.utf8.count >= 8, isCode(code) else { return nil }
    return PairingInvitation(host: nil, port: nil, fingerprint: fingerprint, code: code, expiry: nil)
  }

  public static func pair(
    _ invitation: PairingInvitation, at endpoint: PeerEndpoint, name: String?, own: PeerIdentity, ownName: String
  ) async throws -> ServerRecord {
    let answer = try await ClientNetwork.current.exchange(
      try HealthSyncRequest.pair(code: invitation.code, clientName: ownName).request, endpoint,
      .pinned(invitation.fingerprint, peer: "\(endpoint)"), profile, PeerConnection.silenceLimit)
    let name = name ?? "HealthSync"
    switch answer.status {
    case 200: break
    case 400, 401:
      throw PeerError.codeRefused(
        peer: name,
        advice: answer.text.hasPrefix("Too many")
          ? "too many wrong ones were tried, so restart the app and use a new one"
          : "tap Refresh Code on the phone and copy the new one")
    case 429: throw PeerError.busy(retryAfter: 60)
    default: throw PeerError.unexpectedAnswer(status: answer.status, message: "no token")
    }
    guard let token = try? PhoneBody.decode(HealthSyncToken.self, answer.body),
      let credential = BearerCredential(text: token.token)
    else { throw PeerError.unexpectedAnswer(status: 200, message: "no token") }
    return ServerRecord(
      id: PeerID(certificate: invitation.fingerprint), name: name, fingerprint: invitation.fingerprint,
      credential: credential, dialect: Self.name, host: endpoint.host, port: UInt16(endpoint.port),
      expires: token.expiresAt.map { Date(timeIntervalSince1970: Double($0.seconds)) })
  }

  // MARK: Pulling

  public static func coverage(of position: String) -> PullCoverage? { HealthSyncPosition(position)?.coverage }

  public func withSession<Result: Sendable>(
    at endpoint: PeerEndpoint, _ body: (any PeerSession) async throws -> Result
  ) async throws -> Result {
    let reader = HealthSyncReader(client: HealthSyncClient(settings, at: endpoint))
    return try await body(PhoneSession(settings: settings, reader: reader))
  }

  public func compare(
    at endpoint: PeerEndpoint, progress: (VerifyProgress) async -> Void
  ) async throws -> Verification? {
    let client = HealthSyncClient(settings, at: endpoint)
    var comparison = AppComparison(settings.store)
    for type in try await client.types().known where settings.types.isEmpty || settings.types.contains(type.type) {
      var walk = HealthSyncWalk(type, HealthSyncPosition.TypeState(), .sweep, client)
      try await comparison.add(&walk, progress)
    }
    return comparison.verification(of: settings.types)
  }
}
