import Cryptography
import Foundation
import PeerProtocol

/// The client's side of `hpeer-pair/1`, up to the client's proof.
///
/// ```swift
/// func pair(own: PeerID, _ code: PairingCode, with desk: PairingCoordinator, seen: Fingerprint) async throws -> PairedServer {
///   let exchange = try await PairingClientExchange(
///     hello: await desk.hello(), code: code, clientID: own, name: "laptop", serverFingerprint: seen)
///   let response = try await desk.start(exchange.startRequest, from: "192.0.2.7")  // POST /pair/v1/start
///   let confirmation = try exchange.confirm(response)
///   let receipt = try await desk.finish(confirmation.finishRequest)                // POST /pair/v1/finish
///   return try confirmation.verify(receipt)                                        // Store nothing before this.
/// }
/// ```
///
/// Each value serves one attempt, so the type cannot be copied.
public struct PairingClientExchange: ~Copyable, Sendable {
  /// The first message. Send it unchanged: the transcript covers every field.
  public let startRequest: PairStartRequest

  private let spake: SPAKE2
  private let transcript: PairingTranscript

  /// Derives the key from the code, which takes about 90 ms on another thread.
  ///
  /// - Parameters:
  ///   - name: the client's name in the server's list; 1 to 64 bytes, see ``PairingProtocol/trimmedName(_:)``.
  ///   - serverFingerprint: the fingerprint of the server's certificate in the TLS connection that carries the
  ///     messages.
  ///   - clientFingerprint: the fingerprint of this client's certificate under mutual TLS.
  public init(
    hello: PairHello, code: PairingCode, clientID: PeerID, name: String, serverFingerprint: Fingerprint,
    clientFingerprint: Fingerprint? = nil
  ) async throws(PairingExchangeError) {
    guard hello.versions.contains(PairingProtocol.version), hello.suite == PairingProtocol.suite else {
      throw .unsupportedVersion
    }
    guard let salt = hello.salt else { throw .windowClosed }
    let transcript = PairingTranscript(
      serverID: hello.serverID, serverFingerprint: serverFingerprint, clientID: clientID,
      clientFingerprint: clientFingerprint, clientName: PairingProtocol.trimmedName(name),
      offeredVersions: [PairingProtocol.version])
    let spake: SPAKE2
    let startRequest: PairStartRequest
    do throws(P256Error) {
      let w = try await PasswordScalar.derive(code: code, salt: salt, serverID: hello.serverID)
      spake = try SPAKE2(role: .a, w: w)
      startRequest = try Self.startRequest(transcript, spake)
    } catch {
      throw PairingExchangeError(error)
    }
    self.spake = spake
    self.startRequest = startRequest
    self.transcript = transcript
  }

  /// Creates an exchange with a given w and x, for test vectors.
  init(transcript: PairingTranscript, w: Scalar, x: Scalar) throws(P256Error) {
    let spake = try SPAKE2(role: .a, w: w, secret: x)
    startRequest = try Self.startRequest(transcript, spake)
    self.spake = spake
    self.transcript = transcript
  }

  private static func startRequest(
    _ transcript: PairingTranscript, _ spake: SPAKE2
  ) throws(P256Error) -> PairStartRequest {
    do {
      return try PairStartRequest(
        clientID: transcript.clientID, name: transcript.clientName, versions: transcript.offeredVersions,
        pA: spake.share)
    } catch {
      preconditionFailure("a trimmed name, one version and 65 bytes: \(error)")
    }
  }

  /// Processes the server's share and returns the client's proof.
  public consuming func confirm(
    _ response: PairStartResponse
  ) throws(PairingExchangeError) -> PairingClientConfirmation {
    let additionalData = transcript.additionalData(session: response.session)
    let keys: SPAKE2Keys
    do {
      keys = try spake.keys(
        peerShare: response.pB, identityA: transcript.identityA, identityB: transcript.identityB,
        additionalData: additionalData)
    } catch {
      throw PairingExchangeError(error)
    }
    let finish: PairFinishRequest
    do { finish = try PairFinishRequest(session: response.session, cA: keys.cA) } catch { throw .badServerShare }
    return PairingClientConfirmation(
      finishRequest: finish, expectedCB: keys.cB, secrets: PairingSecrets(keys: keys, additionalData: additionalData),
      serverID: transcript.serverID, fingerprint: transcript.serverFingerprint)
  }
}

/// The client's proof, and the values to verify the server's. It may be sent and verified again after a lost answer.
public struct PairingClientConfirmation: Sendable {
  /// The second message. It may be sent again after a lost answer.
  public let finishRequest: PairFinishRequest

  let expectedCB: [UInt8]
  let secrets: PairingSecrets
  let serverID: PeerID
  let fingerprint: Fingerprint

  /// Checks the server's proof and receipt, in constant time.
  public func verify(_ response: PairFinishResponse) throws(PairingExchangeError) -> PairedServer {
    guard ConstantTime.equal(response.cB, expectedCB) else { throw .serverNotAuthenticated }
    guard let receipt = try? secrets.receipt(session: finishRequest.session, expiresAt: response.expiresAt),
      ConstantTime.equal(response.receipt, receipt), response.tokenID == secrets.token.hash.tokenID
    else { throw .badReceipt }
    return PairedServer(
      serverID: serverID, fingerprint: fingerprint, token: secrets.token, expiresAt: response.expiresAt)
  }
}

/// The data that a client keeps about a server it has paired with.
public struct PairedServer: Equatable, Sendable {
  /// The server's id from its hello message, covered by the proof.
  public let serverID: PeerID
  /// The fingerprint of the server's certificate, to be pinned from now on.
  public let fingerprint: Fingerprint
  /// The token, derived on both sides and never transmitted.
  public let token: BearerToken
  /// The date at which the token expires unless it is used before.
  public let expiresAt: Date
}
