import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust

/// The dialect of the iPhone app HealthAppTransfer: lists of samples by type, newest first, without positions,
/// deletions or a date filter.
public struct HealthAppTransferDialect: PeerDialect {
  public static let name = "HealthAppTransfer"
  static let profile = TransportProfile(leastTLS: .tls12)
  static let statusPath = "/status"

  public static var traits: DialectTraits {
    var traits = DialectTraits()
    traits.transport = profile
    traits.advice =
      "open HealthAppTransfer on the phone, tap Settings, Pair Device and Start Sharing, and keep it open and unlocked"
    // The app shows six digits and a QR code, but neither if it knows no address to put into the QR code.
    (traits.copiesCode, traits.showsCodeWithoutIPv4) = (false, false)
    // The app has no way to end a pairing, and its tokens do not expire.
    (traits.canBeTold, traits.renewsToken) = (false, false)
    return traits
  }

  let settings: PullSettings

  public init(_ settings: PullSettings) { self.settings = settings }

  // MARK: Recognising

  /// Returns false, because the app's announcement contains only a name, like that of other apps.
  public static func recognises(_ announcement: DiscoveredPeer) -> Bool { false }

  public static func recognises(_ greeting: ServerProbe) async throws -> Bool {
    let answer = try await greeting.answer(to: statusPath)
    return answer.status == 200 && status(answer.body) != nil
  }

  /// Returns the app's status, or `nil` if the answer is from another program, including hpeer.
  static func status(_ body: [UInt8]) -> HealthAppTransferStatus? {
    let decoded = try? PhoneBody.decode(HealthAppTransferEnvelope<HealthAppTransferStatus>.self, body)
    guard let decoded, decoded.success, decoded.data.status == "running", decoded.data.protocol == nil else {
      return nil
    }
    return decoded.data
  }

  // MARK: Pairing

  /// Parses a pairing payload. hpeer prints the same JSON object; the server's answers show which of the two it is.
  public static func invitation(in text: String) throws -> PairingInvitation? {
    guard let payload = try PairingPayload.parseForeign(text) else { return nil }
    return PairingInvitation(
      host: payload.host, port: payload.port, fingerprint: payload.fingerprint, code: payload.code.digits,
      expiry: payload.expiry)
  }

  public static func invitation(typed code: String, for fingerprint: Fingerprint) -> PairingInvitation? {
    PairingCode(code).map {
      PairingInvitation(host: nil, port: nil, fingerprint: fingerprint, code: $0.digits, expiry: nil)
    }
  }

  public static func pair(
    _ invitation: PairingInvitation, at endpoint: PeerEndpoint, name: String?, own: PeerIdentity, ownName: String
  ) async throws -> ServerRecord {
    let (network, trust) = (ClientNetwork.current, CertificateTrust.pinned(invitation.fingerprint, peer: "\(endpoint)"))
    func send(_ request: AppRequest) async throws -> AppAnswer {
      try await network.exchange(request, endpoint, trust, profile, PeerConnection.silenceLimit)
    }
    let known = status(try await send(AppRequest(.get, statusPath)).body)?.deviceName
    let name = name ?? PairingProtocol.trimmedName(known ?? "iPhone")
    let answer = try await send(
      try HealthAppTransferRequest.pair(code: invitation.code, deviceName: ownName).request)
    switch answer.status {
    case 200: break
    case 400, 401: throw PeerError.codeRefused(peer: name, advice: "tap New Code on the phone and use the new one")
    case 423: throw PeerError.phoneLocked(peer: name)
    default: throw PeerError.unexpectedAnswer(status: answer.status, message: "no token")
    }
    let token = try? PhoneBody.decode(HealthAppTransferEnvelope<HealthAppTransferToken>.self, answer.body).data
      .token
    guard let token, let credential = BearerCredential(text: token) else {
      throw PeerError.unexpectedAnswer(status: 200, message: "no token")
    }
    return ServerRecord(
      id: PeerID(certificate: invitation.fingerprint), name: name, fingerprint: invitation.fingerprint,
      credential: credential, dialect: Self.name, host: endpoint.host, port: UInt16(endpoint.port))
  }

  // MARK: Pulling

  public static func coverage(of position: String) -> PullCoverage? {
    HealthAppTransferPosition(position)?.coverage
  }

  public func withSession<Result: Sendable>(
    at endpoint: PeerEndpoint, _ body: (any PeerSession) async throws -> Result
  ) async throws -> Result {
    let reader = HealthAppTransferReader(client: HealthAppTransferClient(settings, at: endpoint))
    return try await body(PhoneSession(settings: settings, reader: reader))
  }

  public func compare(
    at endpoint: PeerEndpoint, progress: (VerifyProgress) async -> Void
  ) async throws -> Verification? {
    let client = HealthAppTransferClient(settings, at: endpoint)
    var comparison = AppComparison(settings.store)
    for type in try await client.types().known where settings.types.isEmpty || settings.types.contains(type.type) {
      var walk = HealthAppTransferWalk(
        type, HealthAppTransferPosition.TypeState(), .sweep, client, into: settings.store)
      walk.readsOnce = true
      try await comparison.add(&walk, progress)
    }
    return comparison.verification(of: settings.types)
  }
}
