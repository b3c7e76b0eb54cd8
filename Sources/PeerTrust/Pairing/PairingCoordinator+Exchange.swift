import Cryptography
import Foundation
import PeerProtocol

/// The start and finish messages of `hpeer-pair/1`.
extension PairingCoordinator {
  /// Answers `POST /pair/v1/start`. Reserves one attempt for 30 seconds.
  ///
  /// - Parameters:
  ///   - clientFingerprint: the fingerprint of the client's certificate under mutual TLS, which identifies the client
  ///     from then on.
  ///   - rotation: the client's statement about the certificate that it used before.
  ///   - caller: the address group of the caller, as reported to the owner; see ``makeRoom(for:)``.
  public func start(
    _ request: PairStartRequest, clientFingerprint: Fingerprint? = nil, rotation: RotationStatement? = nil,
    from caller: String
  ) async throws(PairRejection) -> PairStartResponse {
    let window = try requireWindow()
    guard request.versions.contains(PairingProtocol.version) else { throw .unsupportedVersion }
    guard settlement == nil else { throw .temporary }
    giveUpSessions(of: caller)
    try makeRoom(for: caller)
    let session = SecureRandom.bytes(PairingProtocol.sessionByteCount)
    sessions[session] = PairingAttempt(startedAt: clock(), caller: caller, rotation: rotation)

    let derived = await window.secret.scalar.value
    // During the suspension the window may have closed, locked or reopened, and the session may have expired.
    guard try requireWindow().number == window.number, sessions[session] != nil else { throw .sessionExpired }
    let transcript = PairingTranscript(
      serverID: serverID, serverFingerprint: fingerprint, clientID: request.clientID,
      clientFingerprint: clientFingerprint, clientName: request.name, offeredVersions: request.versions)
    do throws(P256Error) {
      let exchange = try PairingServerExchange(
        transcript: transcript, session: session, pA: request.pA, w: derived.get(), y: .random())
      sessions[session]?.exchange = exchange
      return try startResponse(exchange)
    } catch {
      sessions[session] = nil
      guard error == .invalidShare || error == .degenerate else { throw .temporary }
      throw await fail(.invalidShare)
    }
  }

  private func startResponse(_ exchange: PairingServerExchange) throws(P256Error) -> PairStartResponse {
    do {
      return try PairStartResponse(
        session: exchange.session, pB: exchange.pB, ttl: max(1, Int(limits.sessionLifetime)))
    } catch {
      preconditionFailure("16 and 65 bytes: \(error)")
    }
  }

  /// Answers `POST /pair/v1/finish`: checks the client's proof, stores the client, then proves that this server knows
  /// the code.
  ///
  /// A repeated request gets the same answer for ten minutes. A different proof for a finished session is a conflict
  /// and does not count as an attempt.
  public func finish(_ request: PairFinishRequest) async throws(PairRejection) -> PairFinishResponse {
    reap()
    if let receipt = receipts[request.session] {
      guard ConstantTime.equal(receipt.cA, request.cA) else { throw .sessionConflict }
      return receipt.response
    }
    if let settlement, settlement.session == request.session, let task = settlement.task {
      guard ConstantTime.equal(settlement.cA, request.cA) else { throw .sessionConflict }
      return try await task.value.get()
    }
    let window = try requireWindow()
    guard settlement == nil else { throw .temporary }
    guard let session = sessions[request.session], let exchange = session.exchange else {
      if let lost = displaced.first(where: { $0.id == request.session }) { reportKeptOut(lost.session.caller) }
      throw .sessionExpired
    }
    sessions[request.session] = nil
    guard exchange.verify(request.cA) else { throw await fail(.wrongCode) }

    let now = clock()
    let certificate = exchange.transcript.clientFingerprint
    let client = PairedClient(
      id: .ofClient(showing: certificate), name: exchange.transcript.clientName, tokenHash: exchange.tokenHash,
      certificateFingerprint: certificate, rotation: session.rotation, method: .spake2, pairedAt: now,
      expiresAt: tokenExpiry(from: now), tokenLifetime: limits.tokenLifetime, scope: window.scope)
    let task = Task { () -> Result<PairFinishResponse, PairRejection> in
      let response = try? exchange.response(expiresAt: client.expiresAt)
      let isStored = if response != nil { await self.store(client) } else { false }
      self.settlement = nil
      guard let response, isStored else {
        // The client's proof was correct, so it may send it again while the session lives.
        if self.window?.number == window.number { self.sessions[request.session] = session }
        return .failure(.temporary)
      }
      self.receipts[request.session] = Receipt(cA: request.cA, response: response, storedAt: self.clock())
      self.conclude(client, window: window.number)
      return .success(response)
    }
    settlement = Settlement(session: request.session, cA: request.cA, task: task)
    return try await task.value.get()
  }

  /// Returns the token's expiry in whole seconds, as the answer states it.
  func tokenExpiry(from now: Date) -> Date {
    Date(timeIntervalSince1970: (now.timeIntervalSince1970 + limits.tokenLifetime).rounded(.down))
  }

  func store(_ client: PairedClient) async -> Bool {
    do {
      try await persist(client)
      return true
    } catch {
      return false
    }
  }

  /// Reports the success and closes the window: a code is valid for one pairing.
  func conclude(_ client: PairedClient, window number: Int) {
    report(.succeeded(clientID: client.id, name: client.name, method: client.method))
    if window?.number == number { closeWindow(.paired) }
  }
}
