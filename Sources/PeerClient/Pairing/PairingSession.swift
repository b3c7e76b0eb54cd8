import Foundation
import NIOHTTP1
import PeerProtocol
import PeerTrust

/// Pairs with one server: asks who it is, then runs `hpeer-pair/1` with the code.
///
/// Two connections, because a person types in between: the second accepts only the certificate that the first one saw.
///
/// ```swift
/// func pair(
///   _ endpoint: PeerEndpoint, as own: PeerIdentity, ask: (_ server: String) async -> PairingCode
/// ) async throws -> PairedServer {
///   let session = try await PairingSession.open(at: endpoint)
///   let code = await ask(session.status.deviceName)
///   return try await session.pair(code: code, clientID: own.id, certificate: own, name: "laptop")
/// }
/// ```
public struct PairingSession: Sendable {
  /// Where both connections go.
  public let endpoint: PeerEndpoint
  /// What the server says of itself before anybody has proved anything.
  public let status: StatusData
  /// What the server says of itself; `windowOpen` tells whether a code can work at all.
  public let hello: PairHello
  /// The certificate that SPAKE2 will bind the code to.
  public let fingerprint: Fingerprint
  private let silenceLimit: Int

  /// Asks the server who it is. Nothing secret is sent and no attempt is used up.
  ///
  /// - Parameters:
  ///   - pinned: the fingerprint from a QR code or payload, where there is one: judged in the handshake.
  ///   - silenceLimit: seconds without a byte after which the server counts as gone.
  public static func open(
    at endpoint: PeerEndpoint, pinned: Fingerprint? = nil, silenceLimit: Int = PeerConnection.silenceLimit
  ) async throws -> PairingSession {
    let trust = pinned.map { CertificateTrust.pinned($0, peer: endpoint.description) } ?? .anyForPairing
    return try await PeerConnection.withConnection(to: endpoint, trust: trust, silenceLimit: silenceLimit) {
      connection in
      let status = try await connection.status()
      let (code, hello, raw) = try await connection.exchange(.GET, Route.pairHello, as: PairHello.self)
      guard code == 200, let hello else { throw connection.failure(status: code, raw: raw) }
      return PairingSession(
        endpoint: endpoint, status: status, hello: hello, fingerprint: connection.fingerprint,
        silenceLimit: silenceLimit)
    }
  }

  /// Proves knowledge of the code and has the server prove the same. Returns what to store; until then nothing is
  /// stored.
  ///
  /// - Parameters:
  ///   - certificate: the client's own, to which the token is then bound; `nil` leaves it unbound.
  ///   - name: what the server's list shall call this machine.
  public func pair(
    code: PairingCode, clientID: PeerID, certificate: PeerIdentity?, name: String
  ) async throws -> PairedServer {
    let exchange = try await exchange(code: code, clientID: clientID, certificate: certificate, name: name)
    let start = exchange.startRequest
    let response = try await post(start, to: Route.pairStart, certificate, as: PairStartResponse.self)
    let confirmation = try exchange.confirm(response)
    let finish: PairFinishResponse
    do {
      finish = try await post(
        confirmation.finishRequest, to: Route.pairFinish, certificate, as: PairFinishResponse.self)
    } catch PeerError.connectionLost, PeerError.silent, PeerError.tooSlow {
      // The server may have paired already; the same proof has the same answer for ten minutes.
      finish = try await post(
        confirmation.finishRequest, to: Route.pairFinish, certificate, as: PairFinishResponse.self)
    }
    do {
      return try confirmation.verify(finish)
    } catch {
      throw PeerError.confirmationFailed
    }
  }

  /// The refusals that show before anything is sent read like those that the server sends.
  private func exchange(
    code: PairingCode, clientID: PeerID, certificate: PeerIdentity?, name: String
  ) async throws -> PairingClientExchange {
    if let refusal = hello.refusal { throw PeerError.pairing(refusal) }
    do {
      return try await PairingClientExchange(
        hello: hello, code: code, clientID: clientID, name: name, serverFingerprint: fingerprint,
        clientFingerprint: certificate?.fingerprint)
    } catch PairingExchangeError.unsupportedVersion {
      throw PeerError.pairing(.unsupportedVersion)
    }
  }

  private func post<Message: Encodable & Sendable, Answer: Decodable & Sendable>(
    _ message: Message, to path: String, _ certificate: PeerIdentity?, as type: Answer.Type
  ) async throws -> Answer {
    try await PeerConnection.withConnection(
      to: endpoint, trust: .pinned(fingerprint, peer: status.deviceName), identity: certificate,
      silenceLimit: silenceLimit
    ) { connection in
      let (code, answer, raw) = try await connection.exchange(.POST, path, body: message, as: type)
      if code == 200, let answer { return answer }
      if let rejection = (try? JSONDecoder().decode(PairErrorBody.self, from: raw))?.rejection {
        throw PeerError.pairing(rejection)
      }
      throw connection.failure(status: code, raw: raw)
    }
  }
}
