import Foundation
import NIOHTTP1
import PeerProtocol
import PeerTrust

/// A pairing with one server: asks for its status, then runs `hpeer-pair/1` with the code.
///
/// There are two connections, because a person types the code in between. The second accepts only the certificate of
/// the first.
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
  /// The endpoint of both connections.
  public let endpoint: PeerEndpoint
  /// The server's status, which is not authenticated.
  public let status: StatusData
  /// The server's pairing parameters, which are not authenticated; `windowOpen` says whether a code can be accepted
  /// at all.
  public let hello: PairHello
  /// The fingerprint of the certificate to which SPAKE2 binds the code.
  public let fingerprint: Fingerprint
  private let silenceLimit: Int

  /// Connects to the server and asks for its status. Sends no secret and uses up no attempt.
  ///
  /// - Parameters:
  ///   - pinned: the fingerprint from a QR code or payload, if any; checked in the handshake.
  ///   - silenceLimit: the number of seconds without a byte after which the server is considered gone.
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

  /// Proves knowledge of the code and requires the same proof from the server. Returns the record for the caller to
  /// store.
  ///
  /// - Parameters:
  ///   - certificate: the client's own, to which the token is then bound; `nil` leaves it unbound.
  ///   - name: the name of this machine for the server's list.
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
      // The server may have paired already. It answers the same proof with the same answer for ten minutes.
      finish = try await post(
        confirmation.finishRequest, to: Route.pairFinish, certificate, as: PairFinishResponse.self)
    }
    do {
      return try confirmation.verify(finish)
    } catch {
      throw PeerError.confirmationFailed
    }
  }

  /// Starts the key exchange. Local refusals throw the same errors as those of the server.
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
